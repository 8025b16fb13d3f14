def f(x, n):
    u = x * 2.0
    for _ in range(n):
        u = x * u
        for _ in range(3):
            x, u = u, x
    return x[0] + u[0]


# P206_made_again_around_the_exchange.py:3:5: P206 a name stands for one array or one function
#    3 |     for _ in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `u` names another array before this loop or branch
#   help: use another name, or assign the elements, as in `u[:] = ...`
#
# P206_made_again_around_the_exchange.py:3:5: P206 a name stands for one array or one function
#    3 |     for _ in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `u` stands for another array in each iteration of this loop, and does not come back to the first
#   help: give each array a name of its own
