import pyrev


def f(x, n):
    for i in range(n):
        for j in pyrev.checkpointed(range(n)):
            x[0] = x[0] * x[0]


# P111_checkpointed_inside.py:6:9: P111 this iteration is outside the language
#    6 |         for j in pyrev.checkpointed(range(n)):
#      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ only a loop of the function itself, without `break`, is checkpointed
#   help: leave out `pyrev.checkpointed`, or move the loop
