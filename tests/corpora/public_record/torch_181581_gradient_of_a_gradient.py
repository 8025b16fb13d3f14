"""PyTorch #181581: compiled, the gradient of a matrix product had no gradient itself.

The sum of a product of matrices, whose gradient for the one depends on the other.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def product(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            dot = 0.0
            for k in range(w.shape[0]):
                dot += x[i, k] * w[k, j]
            total += dot
    return total


def arguments(n, m):
    return dict(x=m(n, n + 1), w=m(n + 1, 2))


ENTRY = Entry("product", product, arguments, real=4)
ORDER = 2
