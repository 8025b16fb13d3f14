def f(x):
    s = 0.0
    while len([v for v in x if v > s]) > 2:
        s += 0.1
    return s


# P106_comprehension.py:3:15: P106 this kind of value is outside the language
#    3 |     while len([v for v in x if v > s]) > 2:
#      |               ^^^^^^^^^^^^^^^^^^^^^^^ a list is built here
#   help: fill an array in a loop
#
# P106_comprehension.py:3:15: P203 a name is either a number or an array
#    3 |     while len([v for v in x if v > s]) > 2:
#      |               ^^^^^^^^^^^^^^^^^^^^^^^ `len` of a number
#   help: give it an array
