"""Functions of rows in which one loop waits for the next, as people write them."""

import math

import numpy as np


def softmax(x, y):
    for i in range(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - top)
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= s


def log_sum_exp(x, y):
    for i in range(x.shape[0]):
        top = -np.inf
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            s += np.exp(x[i, j] - top)
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] - top - np.log(s)


def layer_norm(x, y):
    for i in range(x.shape[0]):
        mean = 0.0
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= x.shape[1]
        variance = 0.0
        for j in range(x.shape[1]):
            variance += (x[i, j] - mean) ** 2
        scale = 1.0 / np.sqrt(variance / x.shape[1] + 1e-5)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale


def root_mean_square(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j]
        y[i, 0] = s
        for j in range(1, x.shape[1]):
            y[i, j] = x[i, j] / np.sqrt(s / x.shape[1] + y[i, 0])


def unit_range(x, y):
    for i in range(x.shape[0]):
        low = x[i, 0]
        high = x[i, 0]
        for j in range(1, x.shape[1]):
            low = min(low, x[i, j])
            high = max(high, x[i, j])
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - low) / (high - low + 1.0)


def in_place(x, y):
    """An element that all read is written by one, before a loop reads it."""
    for i in range(x.shape[0]):
        first = x[i, 0]
        x[i, 0] = 2.0 * first
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] * s + first
        y[i, 0] = x[i, 0] + s


def overwritten(x, y):
    """A loop writes what all have read, and one reads what that wrote."""
    for i in range(x.shape[0]):
        first = y[i, 0]
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, j] + first
        last = y[i, x.shape[1] - 1]
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] * last
        y[i, 0] += last


def to_the_left(x, y):
    """Neighbours of what a loop before has written."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, j]
        for j in range(x.shape[1]):
            x[i, j] = y[i, j] - y[i, max(j - 1, 0)]
        for j in range(x.shape[1] - 1):
            y[i, j] = x[i, j + 1] * x[i, j]


def sums_in_elements(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, 0] += x[i, j] * x[i, j]
        for j in range(1, x.shape[1]):
            y[i, j] += x[i, j] * y[i, 0]


def cosine_of_rows(x, y):
    for i in range(x.shape[0]):
        xy = 0.0
        xx = 1.0
        for j in range(x.shape[1]):
            xy += x[i, j] * y[i, j]
            xx += x[i, j] * x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = xy / np.sqrt(xx) - y[i, j]


def divergence(x, y):
    for i in range(x.shape[0]):
        total = 1e-3
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                total += x[i, j]
        if total > 1.0:
            total = 1.0 / total
        for j in range(x.shape[1]):
            y[i, j] = np.log(1.0 + x[i, j] * x[i, j]) * total


def backwards(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1] - 1, -1, -1):
            s += x[i, j]
        for j in range(x.shape[1] - 1, -1, -2):
            y[i, j] = x[i, j] * s


def smoothed_maximum(x, y):
    """A loop in a loop, and a sum of its own."""
    for i in range(x.shape[0]):
        top = 0.0
        for j in range(x.shape[1]):
            near = 0.0
            for k in range(max(0, j - 2), min(x.shape[1], j + 3)):
                near += x[i, k]
            y[i, j] = near
            top = max(top, near)
        for j in range(x.shape[1]):
            y[i, j] -= top


def centred_in_batches(x, y):
    for n in range(2):
        for i in range(x.shape[0]):
            mean = 0.0
            for j in range(x.shape[1] // 2):
                mean += x[i, 2 * j + n]
            for j in range(x.shape[1] // 2):
                y[i, 2 * j + n] = x[i, 2 * j + n] - mean


def counted(x, y):
    """Integers are summed, too."""
    for i in range(x.shape[0]):
        many = 0
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                many += 1
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * many


def running(x, y):
    """Iterations that wait for each other: a thread for each row."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s = 0.5 * s + x[i, j]
            y[i, j] = s
        for j in range(x.shape[1]):
            y[i, j] *= s


def last_of_row(x, y):
    """A number of the last iteration is read behind the loop."""
    for i in range(x.shape[0]):
        v = 0.0
        for j in range(x.shape[1]):
            v = x[i, j] * x[i, j]
            y[i, j] = v
        for j in range(x.shape[1]):
            y[i, j] += v


def down_columns(x, y):
    """Threads of neighbours walk memory as they are."""
    for j in range(x.shape[1]):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i, j]
        for i in range(x.shape[0]):
            y[i, j] = x[i, j] / (s + 9.0)


TOGETHER = (
    *(softmax, log_sum_exp, layer_norm, root_mean_square, unit_range, in_place),
    *(overwritten, to_the_left, sums_in_elements, cosine_of_rows, divergence),
    *(backwards, smoothed_maximum, centred_in_batches, counted),
)
ALONE = (running, last_of_row, down_columns)
