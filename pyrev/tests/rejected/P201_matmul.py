def f(a, b):
    return a @ b


# P201_matmul.py:2:12: P201 whole-array operations are not supported yet
#    2 |     return a @ b
#      |            ^^^^^ `@` multiplies whole arrays
#   help: write the product as loops; this comes in a later version
