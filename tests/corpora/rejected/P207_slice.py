def f(x, k):
    x[::k] = 0.0


# P207_slice.py:2:9: P207 this step is outside the language
#    2 |     x[::k] = 0.0
#      |         ^ the step of this slice is not known in the text
#   help: write it as an integer other than zero
