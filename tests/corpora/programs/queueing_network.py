"""Operations: mean value analysis of a closed queueing network, price of capacity."""

import numpy as np


def residence(demand, queue, servers, k):
    # a Seidmann-like correction for stations with several servers
    if servers[k] > 1:
        shared = demand[k] / servers[k]
        return shared * (1.0 + queue[k]) + demand[k] - shared
    return demand[k] * (1.0 + queue[k])


def mean_value_analysis(demand, servers, think, customers):
    m = len(demand)
    queue = np.zeros(m)
    wait = np.zeros(m)
    x = 0.0
    for n in range(1, customers + 1):
        total = 0.0
        for k in range(m):
            wait[k] = residence(demand, queue, servers, k)
            total += wait[k]
        x = n / (think + total)
        for k in range(m):
            queue[k] = x * wait[k]
    return x, queue


def erlang_c(c, load):
    term = 1.0
    total = 1.0
    for k in range(1, c):
        term *= load / k
        total += term
    last = term * load / c * c / (c - load)
    return last / (total + last)


def program(visits, service, servers, think, customers, reward, cost):
    demand = visits * service
    x, queue = mean_value_analysis(demand, servers, think, customers)
    profit = reward * x
    for k in range(len(queue)):
        profit -= cost[k] * queue[k]
    load = x * demand[0]
    return profit - erlang_c(3, load)


def inputs(rng):
    return {
        "visits": np.array([1.0, 2.5, 0.7]),
        "service": rng.uniform(0.2, 0.5, 3),
        "servers": np.array([1, 2, 1]),
        "think": 2.0,
        "customers": 5,
        "reward": 4.0,
        "cost": rng.uniform(0.05, 0.2, 3),
    }
