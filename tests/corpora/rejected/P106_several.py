import numpy as np


def scaled(v, *rest):
    return v * np.spacing(v)


def f(x, y):
    total = 0.0
    while total < 1.0:
        total += np.spacing(x)
    for i in range(len(x)):
        y[1:] = [v for v in x]
        y[i] = scaled(x[i])
        if x[i] > 0:
            raise x
    return total, "done"


# P106_several.py:5:16: P107 this function is not known here
#    5 |     return v * np.spacing(v)
#      |                ^^^^^^^^^^ `np.spacing` is a function that pyrev does not know
#   help: write it as loops, or with the functions that pyrev knows
#
# P106_several.py:11:18: P107 this function is not known here
#   11 |         total += np.spacing(x)
#      |                  ^^^^^^^^^^ `np.spacing` is a function that pyrev does not know
#   help: write it as loops, or with the functions that pyrev knows
#
# P106_several.py:16:13: P102 this statement is outside the language
#   16 |             raise x
#      |             ^^^^^^^ `x` is no class of exceptions
#   help: name the class: `raise ValueError(...)`
#
# P106_several.py:17:19: P106 this kind of value is outside the language
#   17 |     return total, "done"
#      |                   ^^^^^^ a string
#   help: use numbers, arrays and their elements
