def f(x):
    s = 0.0
    for i in range(len(x)):
        if i > 0 and (v := x[i]) > 0:
            s += v
    return s


# P106_walrus.py:4:23: P106 this kind of value is outside the language
#    4 |         if i > 0 and (v := x[i]) > 0:
#      |                       ^^^^^^^^^ a value is named inside an expression
#   help: assign it in a statement of its own
