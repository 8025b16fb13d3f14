def f(x):
    n = int(x[0])
    return x[n:]


# P110_part_known_when_it_runs.py:3:5: P110 this `return` is outside the language
#    3 |     return x[n:]
#      |     ^^^^^^^^^^^^ a part of `x` is returned that is known only when it runs
#   help: return a copy of it, with `.copy()`
