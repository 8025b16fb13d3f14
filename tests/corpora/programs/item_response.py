"""Psychometrics: a graded response model with Gauss-Hermite quadrature."""

import math

import numpy as np

NODES = np.array(
    [
        -2.0201828704560856,
        -0.9585724646138185,
        0.0,
        0.9585724646138185,
        2.0201828704560856,
    ]
)
WEIGHTS = np.array(
    [
        0.01995324205904591,
        0.39361932315224116,
        0.9453087204829419,
        0.39361932315224116,
        0.01995324205904591,
    ]
)


def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


def thresholds(first, log_gaps):
    n = len(log_gaps) + 1
    b = np.zeros(n)
    b[0] = first
    for k in range(1, n):
        b[k] = b[k - 1] + math.exp(log_gaps[k - 1])
    return b


def category_probability(theta, a, b, category):
    upper = 1.0
    if category > 0:
        upper = logistic(a * (theta - b[category - 1]))
    lower = 0.0
    if category < len(b):
        lower = logistic(a * (theta - b[category]))
    return upper - lower


def person_likelihood(answers, slopes, b, shift):
    total = 0.0
    for q in range(len(NODES)):
        theta = math.sqrt(2.0) * NODES[q] + shift
        like = 1.0
        for j in range(len(answers)):
            if answers[j] < 0:
                continue  # not answered
            like *= category_probability(theta, slopes[j], b[j], answers[j])
        total += WEIGHTS[q] / math.sqrt(math.pi) * like
    return total


def program(answers, group, log_slopes, first, log_gaps, effect):
    n_items = len(log_slopes)
    b = np.zeros((n_items, log_gaps.shape[1] + 1))
    for j in range(n_items):
        b[j] = thresholds(first[j], log_gaps[j])
    slopes = np.exp(log_slopes)
    nll = 0.0
    for i in range(answers.shape[0]):
        nll -= math.log(person_likelihood(answers[i], slopes, b, effect[group[i]]))
    return nll


def inputs(rng):
    answers = rng.integers(0, 4, (4, 3))
    answers[1, 2] = -1
    return {
        "answers": answers,
        "group": np.array([0, 1, 1, 0]),
        "log_slopes": rng.normal(0, 0.3, 3),
        "first": rng.normal(-1, 0.2, 3),
        "log_gaps": rng.normal(-0.2, 0.2, (3, 2)),
        "effect": np.array([0.1, -0.2]),
    }
