def f(out, x, y):
    out[1:3] = [x[1:], 2.0]
    out[0, 0] = y


# P201_row_of_several_ranks.py:2:5: P201 an array cannot stand here
#    2 |     out[1:3] = [x[1:], 2.0]
#      |     ^^^^^^^^^^^^^^^^^^^^^^^ numbers and arrays, or arrays of different ranks, stand side by side
#   help: assign them one by one
