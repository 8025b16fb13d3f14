"""Operations: base-stock inventory over echelons with lead times and given demand."""

import numpy as np


def smooth_positive(x, k=8.0):
    if k * x > 30.0:
        return x
    return np.log1p(np.exp(k * x)) / k


def ship(order, stock):
    """What can be sent, smoothly the smaller of both."""
    return order - smooth_positive(order - stock)


def receive(pipeline, stage, t, lead):
    return pipeline[stage, (t - lead) % pipeline.shape[1]]


def holding_cost(stock, h, p):
    return h * smooth_positive(stock) + p * smooth_positive(-stock)


def program(base, demand, leads, h, p, start):
    n = len(base)
    horizon = max(leads) + 1
    pipeline = np.zeros((n, horizon))
    on_order = np.zeros(n)
    stock = start.copy()
    cost = 0.0
    for t in range(len(demand)):
        wanted = demand[t]
        for s in range(n):
            arrived = receive(pipeline, s, t, leads[s])
            stock[s] += arrived
            on_order[s] -= arrived
            if s == 0:
                stock[s] -= wanted
            else:
                sent = ship(wanted, smooth_positive(stock[s]))
                stock[s] -= sent
                pipeline[s - 1, t % horizon] = sent
                on_order[s - 1] += sent
            wanted = smooth_positive(base[s] - stock[s] - on_order[s])
            cost += holding_cost(stock[s], h[s], p[s])
        # the last stage is supplied without limit
        pipeline[n - 1, t % horizon] = wanted
        on_order[n - 1] += wanted
    return cost / len(demand)


def inputs(rng):
    return {
        "base": np.array([4.0, 6.0, 8.0]),
        "demand": rng.uniform(0.5, 3.0, 7),
        "leads": np.array([1, 2, 2]),
        "h": np.array([1.0, 0.6, 0.3]),
        "p": np.array([4.0, 0.5, 0.2]),
        "start": np.array([2.0, 3.0, 3.5]),
    }
