def f(x, y):
    x[x > 0.0] = y[1:]


# P201_assigned_to_a_mask.py:2:5: P201 an array cannot stand here
#    2 |     x[x > 0.0] = y[1:]
#      |     ^^^^^^^^^^^^^^^^^^ an array is assigned to the elements that a mask selects
#   help: write the loop with `if`, or use `np.where`
