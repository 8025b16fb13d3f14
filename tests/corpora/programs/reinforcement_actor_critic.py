"""Reinforcement learning: a tabular policy on a grid, its exact value and entropy."""

import numpy as np


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


def move(s, a, width, height):
    y, x = s // width, s % width
    if a == 0 and y > 0:
        y -= 1
    elif a == 1 and y < height - 1:
        y += 1
    elif a == 2 and x > 0:
        x -= 1
    elif a == 3 and x < width - 1:
        x += 1
    return y * width + x


def policy_model(logits, reward, width, height, slip):
    n = logits.shape[0]
    P = np.zeros((n, n))
    r = np.zeros(n)
    for s in range(n):
        pi = softmax(logits[s])
        for a in range(4):
            for b in range(4):
                p = pi[a] * ((1 - slip) if a == b else slip / 3.0)
                to = move(s, b, width, height)
                P[s, to] += p
                r[s] += p * reward[to]
    return P, r


def evaluate(P, r, gamma, terminal, sweeps):
    v = np.zeros(len(r))
    for _ in range(sweeps):
        v = r + gamma * (P @ v)
        v[terminal] = 0.0
    return v


def program(logits, reward, gamma, slip, width, height, start, terminal, sweeps=6):
    P, r = policy_model(logits, reward, width, height, slip)
    v = evaluate(P, r, gamma, terminal, sweeps)
    entropy = 0.0
    for s in range(logits.shape[0]):
        pi = softmax(logits[s])
        for a in range(4):
            entropy -= pi[a] * np.log(pi[a])
    return v[start] + 0.01 * entropy


def inputs(rng):
    return {
        "logits": rng.normal(size=(6, 4)),
        "reward": rng.normal(size=6),
        "gamma": 0.9,
        "slip": 0.1,
        "width": 3,
        "height": 2,
        "start": 0,
        "terminal": 5,
    }
