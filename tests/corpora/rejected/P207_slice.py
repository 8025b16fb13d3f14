def f(x):
    x[::0] = 0.0


# P207_slice.py:2:9: P207 this step is outside the language
#    2 |     x[::0] = 0.0
#      |         ^ this is no step of a slice
#   help: write an integer other than zero
