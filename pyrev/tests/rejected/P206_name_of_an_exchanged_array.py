def f(u, v, n):
    w = u
    for t in range(n):
        w[0] = 0.5 * v[0]
        u, v = v, u


# P206_name_of_an_exchanged_array.py:3:5: P206 a name stands for one array or one function
#    3 |     for t in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `w` is another name of an array that changes places here
#   help: use one name, or write `.copy()`
