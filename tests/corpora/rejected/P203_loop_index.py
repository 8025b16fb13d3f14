def f(x, n):
    for i in range(n):
        i[0] = 1.0


# P203_loop_index.py:2:5: P203 a name is either a number or an array
#    2 |     for i in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `i` is a loop index here, and an array elsewhere
#   help: give the index and the array different names
