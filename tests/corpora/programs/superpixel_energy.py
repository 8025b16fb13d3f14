"""Vision: one soft SLIC update of centres and the compactness energy of an image."""

import numpy as np


def grid_centres(h, w, rows, cols):
    c = np.zeros((rows * cols, 2))
    for i in range(rows):
        for j in range(cols):
            c[i * cols + j, 0] = (i + 0.5) * h / rows - 0.5
            c[i * cols + j, 1] = (j + 0.5) * w / cols - 0.5
    return c


def distance(pixel, y, x, colour, centre, m, s):
    dc = 0.0
    for k in range(pixel.shape[0]):
        dc += (pixel[k] - colour[k]) ** 2
    ds = (y - centre[0]) ** 2 + (x - centre[1]) ** 2
    return dc + ds * (m / s) ** 2


def assign(img, colours, centres, m, s, temp):
    h, w, _ = img.shape
    k = centres.shape[0]
    soft = np.zeros((h, w, k))
    for y in range(h):
        for x in range(w):
            z = 0.0
            for c in range(k):
                d = distance(img[y, x], y, x, colours[c], centres[c], m, s)
                soft[y, x, c] = np.exp(-d / temp)
                z += soft[y, x, c]
            soft[y, x] /= z
    return soft


def recompute(img, soft, colours, centres):
    h, w, ch = img.shape
    for c in range(centres.shape[0]):
        mass = np.sum(soft[:, :, c])
        colours[c] = 0.0
        centres[c] = 0.0
        for y in range(h):
            for x in range(w):
                a = soft[y, x, c] / mass
                colours[c] += a * img[y, x]
                centres[c, 0] += a * y
                centres[c, 1] += a * x


def program(img, m, temp, rows=2, cols=2):
    h, w, ch = img.shape
    s = np.sqrt(h * w / (rows * cols))
    centres = grid_centres(h, w, rows, cols)
    colours = np.zeros((rows * cols, ch))
    for c in range(rows * cols):
        colours[c] = img[int(centres[c, 0]), int(centres[c, 1])]
    soft = assign(img, colours, centres, m, s, temp)
    recompute(img, soft, colours, centres)
    energy = 0.0
    for y in range(h):
        for x in range(w):
            for c in range(rows * cols):
                d = distance(img[y, x], y, x, colours[c], centres[c], m, s)
                energy += soft[y, x, c] * d
    return energy


def inputs(rng):
    return {"img": rng.uniform(0, 1, (4, 5, 3)), "m": 0.4, "temp": 0.6}
