import pyrev


def f(x, out):
    for i in range(out.shape[0]):
        out[i] = pyrev.probe(x[i]) ** 2


# P108_probe.py:6:18: P108 the arguments do not fit the function
#    6 |         out[i] = pyrev.probe(x[i]) ** 2
#      |                  ^^^^^^^^^^^^^^^^^ `pyrev.probe` takes x, callback
#   help: give a number and the name of a function
