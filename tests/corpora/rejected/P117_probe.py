import pyrev


def half_vjp(a, result, d_result):
    return 0.5 * d_result


@pyrev.custom_vjp(half_vjp)
def half(a):
    return pyrev.probe(a, print) / 2.0


def f(x, out):
    for i in range(out.shape[0]):
        out[i] = half(x[i])


# P117_probe.py:10:12: P117 custom_vjp does not fit here
#   10 |     return pyrev.probe(a, print) / 2.0
#      |            ^^^^^^^^^^^^^^^^^^^^^ a probe in `half`, whose derivative is not that of its text
#   help: probe what it is called with, or what it returns
