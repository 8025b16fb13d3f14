def f(x):
    x.copy()[0] = 0.0


# P112_written_to_a_copy.py:2:5: P112 this is not something to assign to
#    2 |     x.copy()[0] = 0.0
#      |     ^^^^^^^^^^^ this writes to a copy, which nobody reads
#   help: give the copy a name, or write to the array itself
