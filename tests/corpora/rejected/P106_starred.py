def f(x):
    first, *rest = x
    return first


# P106_starred.py:2:12: P106 this kind of value is outside the language
#    2 |     first, *rest = x
#      |            ^^^^^ a starred expression
#   help: write the values out
#
# P106_starred.py:2:20: P112 this is not something to assign to
#    2 |     first, *rest = x
#      |                    ^ this is not a tuple whose length is known
#   help: assign the elements one by one
