"""Economics: an OLG model solved by damped fixed-point iteration on capital."""

import numpy as np


def prices(k, alpha, tfp, delta):
    w = (1 - alpha) * tfp * k**alpha
    r = alpha * tfp * k ** (alpha - 1) - delta
    return w, r


def savings(w, r, beta, sigma, pension):
    """Euler equation of two periods, closed form with CRRA."""
    m = (beta * (1 + r)) ** (1 / sigma)
    return (w * m - pension) / (1 + r + m)


def steady_state(alpha, tfp, delta, beta, sigma, tax, tol=1e-14, damp=0.7):
    k = 0.1
    for it in range(500):
        w, r = prices(k, alpha, tfp, delta)
        pension = tax * w
        k_new = savings((1 - tax) * w, r, beta, sigma, pension)
        if abs(k_new - k) < tol:
            break
        k = damp * k_new + (1 - damp) * k
    else:
        k = k_new
    return k


def transition(k, n, alpha, tfp, delta, beta, sigma, tax_path):
    path = np.zeros(n + 1)
    path[0] = k
    for t in range(n):
        w, r = prices(path[t], alpha, tfp, delta)
        path[t + 1] = savings((1 - tax_path[t]) * w, r, beta, sigma, tax_path[t] * w)
    return path


def program(alpha, tfp, delta, beta, sigma, tax, tax_path):
    k = steady_state(alpha, tfp, delta, beta, sigma, tax)
    path = transition(k, len(tax_path), alpha, tfp, delta, beta, sigma, tax_path)
    welfare = 0.0
    for t in range(len(tax_path)):
        w, r = prices(path[t], alpha, tfp, delta)
        c = (1 - tax_path[t]) * w - path[t + 1]
        welfare += beta**t * np.log(c)
    return welfare


def inputs(rng):
    return dict(
        alpha=0.33,
        tfp=1.2,
        delta=0.8,
        beta=0.6,
        sigma=1.5,
        tax=0.1,
        tax_path=rng.uniform(0.05, 0.15, 5),
    )
