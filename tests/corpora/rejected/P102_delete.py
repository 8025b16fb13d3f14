def f(x):
    y = x * 2.0
    del y
    return x


# P102_delete.py:3:5: P102 this statement is outside the language
#    3 |     del y
#      |     ^^^^^ a name is deleted here
#   help: leave the name alone
