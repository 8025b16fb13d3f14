"""Robotics: ICP in the plane with soft matches and a closed form rigid step."""

import math

import numpy as np


def apply(points, angle, tx, ty):
    out = np.empty_like(points)
    c = math.cos(angle)
    s = math.sin(angle)
    for i in range(points.shape[0]):
        x, y = points[i]
        out[i, 0] = c * x - s * y + tx
        out[i, 1] = s * x + c * y + ty
    return out


def soft_match(p, model, beta):
    target = np.zeros(2)
    total = 0.0
    for j in range(model.shape[0]):
        d2 = (p[0] - model[j, 0]) ** 2 + (p[1] - model[j, 1]) ** 2
        w = math.exp(-beta * d2)
        target += w * model[j]
        total += w
    return target / total


def rigid_step(points, targets):
    pm = points.mean(axis=0)
    tm = targets.mean(axis=0)
    a = 0.0
    b = 0.0
    for i in range(points.shape[0]):
        px, py = points[i] - pm
        qx, qy = targets[i] - tm
        a += px * qx + py * qy
        b += px * qy - py * qx
    angle = math.atan2(b, a)
    tx = tm[0] - (math.cos(angle) * pm[0] - math.sin(angle) * pm[1])
    ty = tm[1] - (math.sin(angle) * pm[0] + math.cos(angle) * pm[1])
    return angle, tx, ty


def icp(scan, model, beta, rounds):
    points = scan
    for _ in range(rounds):
        targets = np.empty_like(points)
        for i in range(points.shape[0]):
            targets[i] = soft_match(points[i], model, beta)
        angle, tx, ty = rigid_step(points, targets)
        points = apply(points, angle, tx, ty)
    return points


def program(scan, model, beta, truth, rounds=2):
    aligned = icp(scan, model, beta, rounds)
    return np.sum((aligned - truth) ** 2)


def inputs(rng):
    model = rng.normal(size=(5, 2))
    return {
        "scan": model[:4] + 0.2 * rng.normal(size=(4, 2)),
        "model": model,
        "beta": 1.0,
        "truth": model[:4],
    }
