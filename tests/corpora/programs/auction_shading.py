"""Economics: equilibrium bids in a first-price auction by iterated best response."""

import numpy as np


def distribution(v, shape):
    return v**shape


def win_probability(bid, grid, bids, shape, rivals):
    """The chance that rivals who follow `bids` stay below `bid`."""
    n = len(grid)
    k = 0
    while k < n - 2 and bids[k + 1] < bid:
        k += 1
    slope = (grid[k + 1] - grid[k]) / (bids[k + 1] - bids[k])
    value = grid[k] + slope * (bid - bids[k])
    return distribution(min(max(value, 0.01), 1.0), shape) ** rivals


def best_response(v, grid, bids, shape, rivals, start, rate, steps):
    b = start
    h = 1e-3
    for _ in range(steps):
        up = (v - b - h) * win_probability(b + h, grid, bids, shape, rivals)
        down = (v - b + h) * win_probability(b - h, grid, bids, shape, rivals)
        b += rate * (up - down) / (2 * h)
    return b


def iterate(grid, bids, shape, rivals, rate, rounds):
    for _ in range(rounds):
        new = bids.copy()
        for i in range(1, len(grid)):
            new[i] = best_response(grid[i], grid, bids, shape, rivals, bids[i], rate, 2)
        bids = new
    return bids


def program(grid, start, shape, rate, reserve, rivals=2, rounds=2):
    bids = iterate(grid, start, shape, rivals, rate, rounds)
    revenue = 0.0
    for i in range(1, len(grid)):
        if grid[i] < reserve:
            continue
        mass = distribution(grid[i], shape) - distribution(grid[i - 1], shape)
        revenue += mass * bids[i]
    return revenue


def inputs(rng):
    grid = np.linspace(0.05, 1.0, 6) + 0.01 * rng.random(6)
    return {
        "grid": grid,
        "start": 0.61 * grid,
        "shape": 1.3,
        "rate": 0.1,
        "reserve": 0.31,
    }
