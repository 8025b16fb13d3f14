import pyrev


def f(x, out):
    for i in range(out.shape[0]):
        out[i] = pyrev.probe(x[i], lambda d: print(i, d)) ** 2


# P108_probe_callback.py:6:36: P108 the arguments do not fit the function
#    6 |         out[i] = pyrev.probe(x[i], lambda d: print(i, d)) ** 2
#      |                                    ^^^^^^^^^^^^^^^^^^^^^ `lambda d: print(i, d)` does not name a function outside of this one
#   help: define it in the module, or around this function, and give its name, or an attribute of what is there: `seen.append`
