"""A sparse matrix, a list of its entries, times a vector, and how far that is off."""

import numpy as np


def coo(rows, cols, values, x, b):
    y = np.zeros_like(b)
    for k in range(rows.shape[0]):
        y[rows[k]] += values[k] * x[cols[k]]
    loss = 0.0
    for i in range(b.shape[0]):
        residual = y[i] - b[i]
        loss += 0.5 * residual * residual
    return loss


def coo_adjoint(rows, cols, values, x, b, d_result):
    y = np.zeros_like(b)
    for k in range(rows.shape[0]):
        y[rows[k]] += values[k] * x[cols[k]]
    # loss += 0.5 * residual * residual
    d_y = d_result * (y - b)
    d_values = np.zeros_like(values)
    d_x = np.zeros_like(x)
    for k in range(rows.shape[0]):
        # y[rows[k]] += values[k] * x[cols[k]]
        d_values[k] = d_y[rows[k]] * x[cols[k]]
        d_x[cols[k]] += d_y[rows[k]] * values[k]
    return d_values, d_x, -d_y


def coo_tangent(rows, cols, values, x, b, dot_values, dot_x, dot_b):
    y, dot_y = np.zeros_like(b), np.zeros_like(b)
    for k in range(rows.shape[0]):
        y[rows[k]] += values[k] * x[cols[k]]
        dot_y[rows[k]] += dot_values[k] * x[cols[k]] + values[k] * dot_x[cols[k]]
    loss = dot_loss = 0.0
    for i in range(b.shape[0]):
        residual = y[i] - b[i]
        loss += 0.5 * residual * residual
        dot_loss += residual * (dot_y[i] - dot_b[i])
    return loss, dot_loss


def arguments(n, rng):
    return {
        "rows": rng.integers(0, n, 2 * n),
        "cols": rng.integers(0, n + 1, 2 * n),
        "values": rng.normal(size=2 * n),
        "x": rng.normal(size=n + 1),
        "b": rng.normal(size=n),
    }
