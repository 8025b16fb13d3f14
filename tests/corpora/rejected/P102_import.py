def f(x):
    import math
    return math.sin(x)


# P102_import.py:2:5: P102 this statement is outside the language
#    2 |     import math
#      |     ^^^^^^^^^^^ a module is imported here
#   help: import it at the top
