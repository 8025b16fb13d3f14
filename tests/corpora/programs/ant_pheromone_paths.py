"""Logistics: ant-like pheromone updates over a graph."""

import numpy as np


def edge_probabilities(pheromone, length, a, b):
    n = pheromone.shape[0]
    p = np.zeros_like(pheromone)
    for i in range(n):
        total = 0.0
        for j in range(n):
            if i != j:
                p[i, j] = pheromone[i, j] ** a / length[i, j] ** b
                total += p[i, j]
        p[i] /= total
    return p


def expected_cost(p, length, goal, sweeps):
    """Mean cost to reach the goal under the random walk."""
    n = p.shape[0]
    cost = np.zeros(n)
    for _ in range(sweeps):
        new = np.zeros(n)
        for i in range(n):
            if i == goal:
                continue
            for j in range(n):
                new[i] += p[i, j] * (length[i, j] + cost[j])
        cost = new
    return cost


def deposit(pheromone, p, cost, rho, strength):
    pheromone *= 1.0 - rho
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            pheromone[i, j] += strength * p[i, j] / (1.0 + cost[i])


def program(start, length, a, b, rho, strength, goal, rounds=2):
    pheromone = start.copy()
    cost = np.zeros(len(length))
    for _ in range(rounds):
        p = edge_probabilities(pheromone, length, a, b)
        cost = expected_cost(p, length, goal, 4)
        deposit(pheromone, p, cost, rho, strength)
    return np.mean(cost)


def inputs(rng):
    return {
        "start": rng.uniform(0.5, 1.5, (4, 4)),
        "length": rng.uniform(1.0, 3.0, (4, 4)),
        "a": 1.1,
        "b": 1.9,
        "rho": 0.3,
        "strength": 1.0,
        "goal": 2,
    }
