def f(x):
    squares = [v * v for v in x]
    return squares[0]


# P106_comprehension.py:2:15: P106 this kind of value is outside the language
#    2 |     squares = [v * v for v in x]
#      |               ^^^^^^^^^^^^^^^^^^ a list is built here
#   help: fill an array in a loop
