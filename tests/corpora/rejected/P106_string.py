def f(x):
    mode = "reflect"
    return x


# P106_string.py:2:12: P106 this kind of value is outside the language
#    2 |     mode = "reflect"
#      |            ^^^^^^^^^ a string
#   help: use numbers, arrays and their elements
