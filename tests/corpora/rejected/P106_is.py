def f(x, y):
    return x if y is x else y


# P106_is.py:2:17: P106 this kind of value is outside the language
#    2 |     return x if y is x else y
#      |                 ^^^^^^ `is` and `in` compare objects, not numbers
#   help: compare numbers with `==`, `!=`, `<`, `<=`, `>` or `>=`, or search among numbers that are written out: `k in (1, 2)`
