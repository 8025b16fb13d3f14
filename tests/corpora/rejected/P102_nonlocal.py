def f(x):
    s = 0.0

    def add(v):
        nonlocal s
        s += v

    for i in range(len(x)):
        add(x[i])
    return s


# P102_nonlocal.py:5:9: P102 this statement is outside the language
#    5 |         nonlocal s
#      |         ^^^^^^^^^^ a variable of the enclosing function would be assigned
#   help: return the value from the helper and assign it outside
