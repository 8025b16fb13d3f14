def f(x):
    return x * scale


# P113_undefined.py:2:16: P113 this name does not stand for a number or an array
#    2 |     return x * scale
#      |                ^^^^^ `scale` is not defined
#   help: define it before the function is differentiated, or pass it in
