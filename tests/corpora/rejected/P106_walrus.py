def f(x):
    s = 0.0
    for i in range(len(x)):
        if i > 9 or (v := x[i]) > 0:
            s += v
    return s


# P106_walrus.py:4:22: P106 this kind of value is outside the language
#    4 |         if i > 9 or (v := x[i]) > 0:
#      |                      ^^^^^^^^^ a value is named inside an expression
#   help: assign it in a statement of its own
