"""Graphics: a ray tracer of spheres over a plane, Phong shading and one bounce."""

import math

import numpy as np

FAR = 1e6


def dot3(ax, ay, az, bx, by, bz):
    return ax * bx + ay * by + az * bz


def hit_sphere(ox, oy, oz, dx, dy, dz, sphere):
    """Distance along the ray, or FAR."""
    lx, ly, lz = sphere[0] - ox, sphere[1] - oy, sphere[2] - oz
    b = dot3(lx, ly, lz, dx, dy, dz)
    disc = b * b - dot3(lx, ly, lz, lx, ly, lz) + sphere[3] * sphere[3]
    if disc < 0.0:
        return FAR
    root = math.sqrt(disc)
    if b - root > 1e-4:
        return b - root
    if b + root > 1e-4:
        return b + root
    return FAR


def nearest(ox, oy, oz, dx, dy, dz, spheres):
    best = FAR
    which = -1
    for s in range(spheres.shape[0]):
        t = hit_sphere(ox, oy, oz, dx, dy, dz, spheres[s])
        if t < best:
            best = t
            which = s
    return best, which


def trace(ox, oy, oz, dx, dy, dz, spheres, albedo, light, bounces):
    colour = 0.0
    weight = 1.0
    for _ in range(bounces + 1):
        t, which = nearest(ox, oy, oz, dx, dy, dz, spheres)
        if which < 0:
            colour += weight * (0.5 + 0.5 * dy)
            break
        px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
        r = spheres[which, 3]
        nx = (px - spheres[which, 0]) / r
        ny = (py - spheres[which, 1]) / r
        nz = (pz - spheres[which, 2]) / r
        lx, ly, lz = light[0] - px, light[1] - py, light[2] - pz
        ll = math.sqrt(dot3(lx, ly, lz, lx, ly, lz))
        lambert = max(0.0, dot3(nx, ny, nz, lx, ly, lz) / ll)
        colour += weight * albedo[which] * (0.1 + 0.9 * lambert)
        weight *= 0.3
        k = 2.0 * dot3(dx, dy, dz, nx, ny, nz)
        ox, oy, oz = px, py, pz
        dx, dy, dz = dx - k * nx, dy - k * ny, dz - k * nz
    return colour


def render(spheres, albedo, light, size):
    image = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            x = (j + 0.5) / size - 0.5
            y = 0.5 - (i + 0.5) / size
            n = math.sqrt(x * x + y * y + 1.0)
            image[i, j] = trace(
                0.0, 0.0, 0.0, x / n, y / n, 1.0 / n, spheres, albedo, light, 1
            )
    return image


def program(spheres, albedo, light, photo):
    image = render(spheres, albedo, light, photo.shape[0])
    return np.sum((image - photo) ** 2)


def inputs(rng):
    return {
        "spheres": np.array(
            [[0.31, 0.17, 3.1, 0.71], [-0.83, 0.21, 4.2, 0.93], [0.1, -50.7, 5.0, 49.8]]
        ),
        "albedo": np.array([0.8, 0.5, 0.6]),
        "light": np.array([3.0, 6.0, -1.0]),
        "photo": rng.uniform(0, 1, (4, 4)),
    }
