def f(x):
    for x[0] in range(3):
        pass


# P112_element_as_index.py:2:9: P112 this is not something to assign to
#    2 |     for x[0] in range(3):
#      |         ^^^^ `x[0]` cannot count the iterations
#   help: give the index a name
