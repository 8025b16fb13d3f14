def f(x, y, n):
    s = 0.0
    for t in range(n):
        y, x = x, y
        s += y[2]
    u = x
    if n > 1:
        u = x[:]
        x, y = y, x
        u[:] = 0.5 * u
    else:
        x[0] *= 0.5
    return s + x[0] + u[0]


# P206_part_of_what_changed_places.py:7:5: P206 a name stands for one array or one function
#    7 |     if n > 1:
#      |     ^^^^^^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
#
# P206_part_of_what_changed_places.py:12:9: P206 a name stands for one array or one function
#   12 |         x[0] *= 0.5
#      |         ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
