def f(x: float):
    return x[0]


# P203_annotation.py:2:12: P203 a name is either a number or an array
#    2 |     return x[0]
#      |            ^^^^ `x` is a number
#   help: annotate it as an array, or leave the subscripts out
