def f(x: "float64[:]"):
    return (x[0] * x[0] + 1.0)[1:]


# P203_slice_of_a_number.py:2:13: P203 a name is either a number or an array
#    2 |     return (x[0] * x[0] + 1.0)[1:]
#      |             ^^^^^^^^^^^^^^^^^ `x[0] * x[0] + 1.0` is not an array
#   help: leave the subscripts out
