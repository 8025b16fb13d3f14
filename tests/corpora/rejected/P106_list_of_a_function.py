def f(x):
    return sum(_taken(_squares, x))


def _taken(g, x):
    return g(x) * 2


def _squares(x):
    out = []
    for v in x:
        out.append(v * v)
    return out


# P106_list_of_a_function.py:6:12: P106 this kind of value is outside the language
#    6 |     return g(x) * 2
#      |            ^^^^ `_squares` gives a list, which is taken for an array here
#   help: return `np.array(...)` of it, or call a function of the module by its name
