def f(x):
    first, *rest = x, x, x
    return first


# P106_starred.py:2:5: P112 this is not something to assign to
#    2 |     first, *rest = x, x, x
#      |     ^^^^^^^^^^^^^^^^^^^^^^ 3 values for 2 names
#   help: make the two sides equally long
#
# P106_starred.py:2:12: P106 this kind of value is outside the language
#    2 |     first, *rest = x, x, x
#      |            ^^^^^ a starred expression
#   help: write the values out
