from scipy.special import logsumexp


def f(x):
    return logsumexp(x) + x[0]


# P107_of_a_library.py:5:12: P107 this function is not known here
#    5 |     return logsumexp(x) + x[0]
#      |            ^^^^^^^^^ `logsumexp` is a function of scipy that pyrev does not know
#   help: write it as loops, or with the functions that pyrev knows
