def f(x: float):
    return x[0]


# P202_scalar_annotation.py:2:12: P202 an array has one number of subscripts
#    2 |     return x[0]
#      |            ^^^^ `x` is a number
#   help: subscript each axis; views of rows are not supported yet
