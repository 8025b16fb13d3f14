def f(x):
    last = None
    y = x.copy()
    for i in range(len(x)):
        y[i] = last
        last = x[i]
    return y


# P106_maybe_none.py:5:16: P106 this kind of value is outside the language
#    5 |         y[i] = last
#      |                ^^^^ `last` may be `None` here, and may be something else
#   help: ask before what it is, `if last is not None`
