"""PyTorch #184528: a parameter of a scan missed what it does through the carry.

The state starts as a number without a gradient, and the step takes the parameter from
around it.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def recurrence(x, a, out):
    def step(carry, now):
        return a * carry + now

    carry = 0.3
    for t in range(x.shape[0]):
        carry = step(carry, x[t])
        out[t] = carry
    return carry * carry


def arguments(n, m):
    return dict(x=m(n), a=m.scalar(), out=m(n))


ENTRY = Entry("recurrence", recurrence, arguments, ("out",), real=6)
