def f(x):
    return x.sum()


# P107_method.py:2:12: P107 this function is not known here
#    2 |     return x.sum()
#      |            ^^^^^ `.sum` is a method of a whole array
#   help: whole-array methods are not supported yet: write the loop
