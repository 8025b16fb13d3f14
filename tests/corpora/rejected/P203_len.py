def f(x: "float64[:]"):
    return len(x[0] + 1.0)


# P203_len.py:2:16: P203 a name is either a number or an array
#    2 |     return len(x[0] + 1.0)
#      |                ^^^^^^^^^^ `len` of a number
#   help: give it an array
