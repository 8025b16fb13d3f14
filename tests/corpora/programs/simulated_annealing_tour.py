"""Combinatorics: annealing moves on soft positions with given dice, the best energy."""

import numpy as np


def energy(pos, springs):
    e = 0.0
    n = pos.shape[0]
    for i in range(n):
        j = (i + 1) % n
        d = np.sqrt((pos[i, 0] - pos[j, 0]) ** 2 + (pos[i, 1] - pos[j, 1]) ** 2 + 1e-3)
        e += springs[i] * d
        for k in range(i + 2, n):
            r2 = (pos[i, 0] - pos[k, 0]) ** 2 + (pos[i, 1] - pos[k, 1]) ** 2
            e += 0.1 / (r2 + 0.1)
    return e


def mutate(pos, who, kick):
    new = pos.copy()
    new[who] = pos[who] + kick
    return new


def anneal(pos, springs, who, kicks, dice, t0, cooling):
    current = pos.copy()
    e = energy(current, springs)
    best = current
    best_e = e
    temp = t0
    for k in range(len(who)):
        trial = mutate(current, who[k], kicks[k])
        et = energy(trial, springs)
        if et < e or dice[k] < np.exp((e - et) / temp):
            current = trial
            e = et
            if e < best_e:
                best = current
                best_e = e
        temp *= cooling
    return best, best_e


def program(pos, springs, who, kicks, dice, t0=0.3, cooling=0.8):
    best, e = anneal(pos, springs, who, kicks, dice, t0, cooling)
    return e + 0.1 * np.sum(best[:, 0] * best[:, 1])


def inputs(rng):
    return {
        "pos": rng.normal(size=(4, 2)),
        "springs": rng.uniform(0.5, 1.5, 4),
        "who": np.array([0, 2, 1, 3, 2]),
        "kicks": 0.4 * rng.normal(size=(5, 2)),
        "dice": np.array([0.1, 0.9, 0.4, 0.7, 0.2]),
    }
