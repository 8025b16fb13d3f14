"""Machine learning: gradient descent of a small MLP written out by hand, final loss."""

import numpy as np


def forward(x, W1, b1, W2, b2, hidden):
    for j in range(len(b1)):
        a = b1[j]
        for k in range(len(x)):
            a += W1[j, k] * x[k]
        hidden[j] = np.tanh(a)
    y = b2
    for j in range(len(b1)):
        y += W2[j] * hidden[j]
    return y


def epoch(X, Y, W1, b1, W2, b2, lr):
    """Plain stochastic gradient descent, sample by sample, in place."""
    hidden = np.zeros(len(b1))
    for i in range(len(Y)):
        err = forward(X[i], W1, b1, W2, b2, hidden) - Y[i]
        b2 -= lr * err
        for j in range(len(b1)):
            d = err * W2[j] * (1.0 - hidden[j] ** 2)
            W2[j] -= lr * err * hidden[j]
            b1[j] -= lr * d
            for k in range(X.shape[1]):
                W1[j, k] -= lr * d * X[i, k]
    return b2


def program(X, Y, X_val, Y_val, W1_init, W2_init, lr, epochs):
    """The validation loss as a function of the initial weights and the rate."""
    W1 = W1_init.copy()
    W2 = W2_init.copy()
    b1 = np.zeros(len(W2))
    b2 = 0.0
    for _ in range(epochs):
        b2 = epoch(X, Y, W1, b1, W2, b2, lr)
    hidden = np.zeros(len(b1))
    loss = 0.0
    for i in range(len(Y_val)):
        loss += (forward(X_val[i], W1, b1, W2, b2, hidden) - Y_val[i]) ** 2
    return loss / len(Y_val)


def inputs(rng):
    return {
        "X": rng.normal(size=(4, 2)),
        "Y": rng.normal(size=4),
        "X_val": rng.normal(size=(3, 2)),
        "Y_val": rng.normal(size=3),
        "W1_init": 0.5 * rng.normal(size=(3, 2)),
        "W2_init": 0.5 * rng.normal(size=3),
        "lr": 0.1,
        "epochs": 2,
    }
