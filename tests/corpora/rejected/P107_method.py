def f(x):
    x.tolist()
    return x[0]


# P107_method.py:2:5: P107 this function is not known here
#    2 |     x.tolist()
#      |     ^^^^^^^^ `.tolist` is a method that pyrev does not know
#   help: write it as loops; of methods `sum`, `dot`, `copy` and their like are known
