def halved(v, t):
    for i in range(v.shape[0]):
        v[i] = 0.5 * v[i]
    return t


def f(g, t):
    m = g > 0.3
    g[m] += halved(g, t)
    return g[0]


# P206_selected_before_a_call.py:9:5: P206 a name stands for one array or one function
#    9 |     g[m] += halved(g, t)
#      |     ^^^^^^^^^^^^^^^^^^^^ the value is computed by a call that writes what is selected here
#   help: select in a statement of its own first, and add what the call returns
