"""Artificial life: a continuous cellular automaton (Lenia-like)."""

import numpy as np


def ring_kernel(radius, peak, width):
    size = 2 * radius + 1
    k = np.zeros((size, size))
    total = 0.0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            r = np.hypot(dy, dx) / radius
            if r > 1.0:
                continue
            v = np.exp(-0.5 * ((r - peak) / width) ** 2)
            k[dy + radius, dx + radius] = v
            total += v
    k /= total
    return k


def neighbourhood(world, k):
    h, w = world.shape
    r = k.shape[0] // 2
    u = np.zeros_like(world)
    for y in range(h):
        for x in range(w):
            for dy in range(-r, r + 1):
                for dx in range(-r, r + 1):
                    u[y, x] += k[dy + r, dx + r] * world[(y + dy) % h, (x + dx) % w]
    return u


def growth(u, mu, sigma):
    return 2.0 * np.exp(-0.5 * ((u - mu) / sigma) ** 2) - 1.0


def soft_clip(x):
    return 1.0 / (1.0 + np.exp(-4.0 * (x - 0.5)))


def centre_of_mass(world):
    total = np.sum(world)
    cy = 0.0
    cx = 0.0
    for y in range(world.shape[0]):
        for x in range(world.shape[1]):
            cy += y * world[y, x]
            cx += x * world[y, x]
    return cy / total, cx / total


def program(seed, mu, sigma, peak, width, dt, steps):
    kernel = ring_kernel(1, peak, width)
    world = seed.copy()
    y0, x0 = centre_of_mass(world)
    for _ in range(steps):
        world[:] = soft_clip(
            world + dt * growth(neighbourhood(world, kernel), mu, sigma)
        )
    y1, x1 = centre_of_mass(world)
    return np.sqrt((y1 - y0) ** 2 + (x1 - x0) ** 2) + 0.1 * np.mean(world)


def inputs(rng):
    return {
        "seed": rng.uniform(0, 1, (5, 5)),
        "mu": 0.4,
        "sigma": 0.2,
        "peak": 0.7,
        "width": 0.3,
        "dt": 0.3,
        "steps": 2,
    }
