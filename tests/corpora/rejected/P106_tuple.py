def f(x):
    pair = (x, x)
    total = 0.0
    for value in pair:
        total += value
    return total


# P106_tuple.py:2:12: P106 this kind of value is outside the language
#    2 |     pair = (x, x)
#      |            ^^^^^^ a tuple where a number is needed
#   help: use numbers, arrays and their elements
