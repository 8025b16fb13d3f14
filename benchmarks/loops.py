"""The workloads as the loops a reader would write: plain functions, no pyrev in sight.

`peers/pyrev_cpu.py` differentiates these very functions. Names and shapes are those of
`workloads/`; arrays that a function fills are its last parameters.
"""

from __future__ import annotations

import math

import numpy as np


def conv2d(x, w, out):
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            for a in range(out.shape[2]):
                for b in range(out.shape[3]):
                    for c in range(x.shape[1]):
                        for j in range(w.shape[2]):
                            for i in range(w.shape[3]):
                                out[n, k, a, b] += x[n, c, a + j, b + i] * w[k, c, j, i]


def ckpt(x, k, target):
    convolved = np.zeros_like(target)
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            for j in range(k.shape[0]):
                for i in range(k.shape[1]):
                    convolved[a, b] += x[a + j, b + i] * k[j, i]
    loss = 0.0
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            loss += (convolved[a, b] - target[a, b]) ** 2
    return loss


def heat3d(u, a, out):
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            for x in range(u.shape[2]):
                out[z, y, x] = u[z, y, x]
    for z in range(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            for x in range(1, u.shape[2] - 1):
                around = (
                    u[z - 1, y, x]
                    + u[z + 1, y, x]
                    + u[z, y - 1, x]
                    + u[z, y + 1, x]
                    + u[z, y, x - 1]
                    + u[z, y, x + 1]
                )
                out[z, y, x] += a[z, y, x] * (around - 6 * u[z, y, x])


def rd2d(u0, a, steps, out):
    for y in range(u0.shape[0]):
        for x in range(u0.shape[1]):
            out[y, x] = u0[y, x]
    u = np.empty_like(u0)
    for _ in range(steps):
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                u[y, x] = out[y, x]
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                around = (
                    u[max(y - 1, 0), x]
                    + u[min(y + 1, u0.shape[0] - 1), x]
                    + u[y, max(x - 1, 0)]
                    + u[y, min(x + 1, u0.shape[1] - 1)]
                )
                grown = 0.05 * u[y, x] * (1 - u[y, x])
                out[y, x] = u[y, x] + a[y, x] * (around - 4 * u[y, x]) + grown


def dilconv(x, w, out):
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            for b in range(out.shape[2]):
                for j in range(w.shape[0]):
                    for i in range(w.shape[1]):
                        for c in range(w.shape[2]):
                            for k in range(w.shape[3]):
                                out[n, a, b, k] += (
                                    x[n, 3 * a + 2 * j, 3 * b + 2 * i, c]
                                    * w[j, i, c, k]
                                )


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def hmlstm(c, f, i, g, z1, z2, out):
    for y in range(c.shape[0]):
        for x in range(c.shape[1]):
            new = sigmoid(i[y, x]) * math.tanh(g[y, x])
            if z1[x] != 0:
                out[y, x] = new
            elif z2[x] == 1:
                out[y, x] = sigmoid(f[y, x]) * c[y, x] + new
            else:
                out[y, x] = c[y, x]


def flownet(x, flow, out):
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for b in range(out.shape[3]):
                    px = min(max(b + flow[n, 0, y, b], 0.0), out.shape[3] - 1.0)
                    py = min(max(y + flow[n, 1, y, b], 0.0), out.shape[2] - 1.0)
                    x0 = min(int(px), out.shape[3] - 2)
                    y0 = min(int(py), out.shape[2] - 2)
                    wx = px - x0
                    wy = py - y0
                    top = (1 - wx) * x[n, c, y0, x0] + wx * x[n, c, y0, x0 + 1]
                    low = (1 - wx) * x[n, c, y0 + 1, x0] + wx * x[n, c, y0 + 1, x0 + 1]
                    out[n, c, y, b] = (1 - wy) * top + wy * low


def stn(x, theta, out):
    height = out.shape[2]
    width = out.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(height):
                for b in range(width):
                    gx = (2 * b + 1) / width - 1
                    gy = (2 * y + 1) / height - 1
                    u = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy + theta[n, 0, 2]
                    v = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy + theta[n, 1, 2]
                    px = ((u + 1) * width - 1) / 2
                    py = ((v + 1) * height - 1) / 2
                    x0 = int(math.floor(px))
                    y0 = int(math.floor(py))
                    wx = px - x0
                    wy = py - y0
                    total = 0.0
                    for j in range(2):
                        for i in range(2):
                            if 0 <= y0 + j < height and 0 <= x0 + i < width:
                                weight_y = wy if j == 1 else 1 - wy
                                weight_x = wx if i == 1 else 1 - wx
                                total += weight_y * weight_x * x[n, c, y0 + j, x0 + i]
                    out[n, c, y, b] = total


def bslice(x, guide, grid, out):
    depth = grid.shape[2]
    rows = grid.shape[3]
    columns = grid.shape[4]
    for n in range(out.shape[0]):
        for y in range(out.shape[2]):
            for b in range(out.shape[3]):
                gz = guide[n, y, b] * depth - 0.5
                gy = (y + 0.5) * rows / out.shape[2] - 0.5
                gx = (b + 0.5) * columns / out.shape[3] - 0.5
                gz = min(max(gz, 0.0), depth - 1.0)
                gy = min(max(gy, 0.0), rows - 1.0)
                gx = min(max(gx, 0.0), columns - 1.0)
                z0 = min(int(gz), depth - 2)
                y0 = min(int(gy), rows - 2)
                x0 = min(int(gx), columns - 2)
                wz = gz - z0
                wy = gy - y0
                wx = gx - x0
                for k in range(3):
                    total = 0.0
                    for c in range(4):
                        coefficient = 0.0
                        for dz in range(2):
                            for dy in range(2):
                                for dx in range(2):
                                    weight = wz if dz == 1 else 1 - wz
                                    weight *= wy if dy == 1 else 1 - wy
                                    weight *= wx if dx == 1 else 1 - wx
                                    cell = grid[n, 4 * k + c, z0 + dz, y0 + dy, x0 + dx]
                                    coefficient += weight * cell
                        total += coefficient * (x[n, c, y, b] if c < 3 else 1.0)
                    out[n, k, y, b] = total


def splat(v, g, grid, cnt):
    for y in range(v.shape[0]):
        for b in range(v.shape[1]):
            z = g[y, b] * (grid.shape[0] - 1)
            z0 = min(max(int(z), 0), grid.shape[0] - 2)
            w = z - z0
            grid[z0, y // 16, b // 16] += v[y, b] * (1 - w)
            grid[z0 + 1, y // 16, b // 16] += v[y, b] * w
            cnt[z0, y // 16, b // 16] += 1 - w
            cnt[z0 + 1, y // 16, b // 16] += w


def gmm(alpha, mean, icf, x):
    components = mean.shape[0]
    d = mean.shape[1]
    terms = np.zeros(components)
    loss = 0.0
    for p in range(x.shape[0]):
        for k in range(components):
            term = alpha[k]
            for r in range(d):
                term += icf[k, r]
                y = math.exp(icf[k, r]) * (x[p, r] - mean[k, r])
                for q in range(r):
                    # the strict lower triangle, column after column
                    at = d + q * d - q * (q + 1) // 2 + r - q - 1
                    y += icf[k, at] * (x[p, q] - mean[k, q])
                term -= 0.5 * y * y
            terms[k] = term
        top = terms[0]
        for k in range(components):
            top = max(top, terms[k])
        total = 0.0
        for k in range(components):
            total += math.exp(terms[k] - top)
        loss += top + math.log(total)
    top = alpha[0]
    for k in range(components):
        top = max(top, alpha[k])
    total = 0.0
    for k in range(components):
        total += math.exp(alpha[k] - top)
    return loss - x.shape[0] * (top + math.log(total))
