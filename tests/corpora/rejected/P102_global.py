total = 0.0


def f(x):
    global total
    for i in range(x.shape[0]):
        total += x[i]


# P102_global.py:5:5: P102 this statement is outside the language
#    5 |     global total
#      |     ^^^^^^^^^^^^ a module variable would be assigned
#   help: return the value, or write it to an array parameter
