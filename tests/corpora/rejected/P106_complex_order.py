def f(x):
    z = x * 1j
    return x if z > 1j else -x


# P106_complex_order.py:3:17: P106 this kind of value is outside the language
#    3 |     return x if z > 1j else -x
#      |                 ^^^^^^ complex numbers have no order
#   help: compare `abs(z)` or `z.real`
