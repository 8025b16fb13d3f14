import pyrev


def f(x, n, k):
    for i in pyrev.checkpointed(range(n), slots=k):
        x[0] = x[0] * x[0]


# P111_slots.py:5:14: P111 this iteration is outside the language
#    5 |     for i in pyrev.checkpointed(range(n), slots=k):
#      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the number of states is not a positive integer literal
#   help: write `pyrev.checkpointed(range(n), slots=8)`
