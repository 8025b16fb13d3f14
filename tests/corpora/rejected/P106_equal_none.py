def f(p):
    best = None
    for i in range(p.shape[0]):
        if best == None or p[i, 0] > best[0]:
            best = p[i]
    return best @ best


# P106_equal_none.py:4:12: P106 this kind of value is outside the language
#    4 |         if best == None or p[i, 0] > best[0]:
#      |            ^^^^ `best` is an array: `==` compares each element with `None`
#   help: write `best is None`
