def f(x):
    zs = []
    for k in range(3):
        zs.append(x * 1j * k)
    return abs(zs[1])


# P106_complex_list.py:2:5: P106 this kind of value is outside the language
#    2 |     zs = []
#      |     ^^^^^^^ a list of complex numbers
#   help: fill an array, `np.zeros(n, dtype=complex)`
