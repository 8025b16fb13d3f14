def f(x):
    a = {v * v for v in x}
    b = {v: v * v for v in x}
    c = {1.0, 2.0}
    d = x[0] if all(v > 0.0 for v in x) else x[1]
    e = f"{x}"
    return x


# P106_builders.py:2:9: P106 this kind of value is outside the language
#    2 |     a = {v * v for v in x}
#      |         ^^^^^^^^^^^^^^^^^^ a set is built here
#   help: fill an array in a loop
#
# P106_builders.py:3:9: P106 this kind of value is outside the language
#    3 |     b = {v: v * v for v in x}
#      |         ^^^^^^^^^^^^^^^^^^^^^ a dict is built here
#   help: fill an array in a loop
#
# P106_builders.py:4:9: P106 this kind of value is outside the language
#    4 |     c = {1.0, 2.0}
#      |         ^^^^^^^^^^ a set is made here
#   help: use arrays and scalars
#
# P106_builders.py:5:17: P108 the arguments do not fit the function
#    5 |     d = x[0] if all(v > 0.0 for v in x) else x[1]
#      |                 ^^^^^^^^^^^^^^^^^^^^^^^ `all` does not take these arguments here
#   help: give it iterable (1 axis)
#
# P106_builders.py:5:20: P106 this kind of value is outside the language
#    5 |     d = x[0] if all(v > 0.0 for v in x) else x[1]
#      |                    ^^^^^^^^^^^^^^^^^^^^ a generator is built here
#   help: write the loop out
#
# P106_builders.py:6:9: P106 this kind of value is outside the language
#    6 |     e = f"{x}"
#      |         ^^^^^^ a string is built here
#   help: keep text out of the function
