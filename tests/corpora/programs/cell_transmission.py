"""Traffic: the cell transmission model of a motorway with an on-ramp, total delay."""

import numpy as np


def sending(rho, vf, cap):
    return min(vf * rho, cap)


def receiving(rho, w, cap, jam):
    return min(cap, w * (jam - rho))


def boundary_flows(rho, inflow, ramp, vf, w, cap, jam, flow):
    n = rho.shape[0]
    flow[0] = min(inflow, receiving(rho[0], w, cap[0], jam))
    for i in range(1, n):
        s = sending(rho[i - 1], vf, cap[i - 1])
        r = receiving(rho[i], w, cap[i], jam)
        if i == n // 2:
            r = max(r - ramp, 0.0)
        flow[i] = min(s, r)
    flow[n] = sending(rho[n - 1], vf, cap[n - 1])


def update(rho, flow, ramp, dt_dx):
    n = rho.shape[0]
    for i in range(n):
        rho[i] += dt_dx * (flow[i] - flow[i + 1])
    rho[n // 2] += dt_dx * ramp


def program(rho0, demand, ramp, vf, w, cap, jam, dt, dx):
    rho = rho0.copy()
    flow = np.zeros(len(rho) + 1)
    queue = 0.0
    delay = 0.0
    for t in range(len(demand)):
        wanted = demand[t] + queue / dt
        boundary_flows(rho, wanted, ramp[t], vf, w, cap, jam, flow)
        queue = (wanted - flow[0]) * dt
        update(rho, flow, ramp[t], dt / dx)
        delay += queue * dt
        for i in range(len(rho)):
            free = flow[i + 1] / vf
            delay += (rho[i] - free) * dx * dt
    return delay


def inputs(rng):
    n = 6
    return {
        "rho0": rng.uniform(10, 60, n),
        "demand": rng.uniform(1200, 2100, 5),
        "ramp": rng.uniform(100, 400, 5),
        "vf": 90.3,
        "w": 20.7,
        "cap": np.array([2000.0, 1990.0, 1810.0, 1480.0, 1950.0, 2010.0]),
        "jam": 141.3,
        "dt": 10.0 / 3600.0,
        "dx": 0.5,
    }
