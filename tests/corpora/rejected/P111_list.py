def f(x, y):
    for v in [y, *x]:
        x[0] += v


# P111_list.py:2:14: P111 this iteration is outside the language
#    2 |     for v in [y, *x]:
#      |              ^^^^^^^ `[y, *x]` is nothing to loop over
#   help: loop over `range(...)`, an array, `enumerate` or `zip`
#
# P111_list.py:2:18: P106 this kind of value is outside the language
#    2 |     for v in [y, *x]:
#      |                  ^^ a star spreads what is no tuple here
#   help: give it a tuple, or write the values out
