import numpy as np


def scaled(v, *rest):
    return v * np.median(v)


def f(x, y):
    total = 0.0
    while total < 1.0:
        total += np.sum(x)
    for i in range(len(x)):
        y[1:] = [v for v in x]
        y[i] = scaled(x[i])
        if x[i] > 0:
            break
    return total, "done"


# P103_several.py:4:16: P104 this kind of parameter is outside the language
#    4 | def scaled(v, *rest):
#      |                ^^^^ `*rest` collects arguments
#   help: name each parameter
#
# P103_several.py:5:16: P107 this function is not known here
#    5 |     return v * np.median(v)
#      |                ^^^^^^^^^ `np.median` is a function that pyrev does not know
#   help: whole-array functions are not supported yet: write the loop
#
# P103_several.py:10:5: P103 this control flow is not supported yet
#   10 |     while total < 1.0:
#      |     ^^^^^^^^^^^^^^^^^^ `while` is not supported yet
#   help: loop over a `range` that is long enough, with `if` inside; this comes in a later version
#
# P103_several.py:11:18: P107 this function is not known here
#   11 |         total += np.sum(x)
#      |                  ^^^^^^ `np.sum` is a function that pyrev does not know
#   help: whole-array functions are not supported yet: write the loop
#
# P103_several.py:13:9: P201 whole-array operations are not supported yet
#   13 |         y[1:] = [v for v in x]
#      |         ^^^^^ `y[1:]` is a part of the array
#   help: write the loop over its elements; this comes in a later version
#
# P103_several.py:13:17: P106 this kind of value is outside the language
#   13 |         y[1:] = [v for v in x]
#      |                 ^^^^^^^^^^^^^^ a list is built here
#   help: fill an array in a loop
#
# P103_several.py:16:13: P103 this control flow is not supported yet
#   16 |             break
#      |             ^^^^^ `break` is not supported yet
#   help: guard the rest of the body with `if`; this comes in a later version
#
# P103_several.py:17:19: P106 this kind of value is outside the language
#   17 |     return total, "done"
#      |                   ^^^^^^ a string
#   help: use numbers, arrays and their elements
