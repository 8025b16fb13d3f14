def f(x):
    z = x * 1j
    y = z
    z *= 2j
    return y.imag


# P106_complex_second_name.py:4:5: P106 this kind of value is outside the language
#    4 |     z *= 2j
#      |     ^^^^^^^ `z` may be an array with another name
#   help: write `z[...] = z * ...` for an array, `z = z * ...` for a number
