"""Image processing: three results at once: blur, edges and a soft threshold of them."""

import numpy as np

KERNEL = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16.0


def pad_edge(img):
    h, w = img.shape
    p = np.empty((h + 2, w + 2))
    p[1:-1, 1:-1] = img
    p[0, 1:-1] = img[0]
    p[-1, 1:-1] = img[-1]
    p[:, 0] = p[:, 1]
    p[:, -1] = p[:, -2]
    return p


def convolve3(img, k):
    p = pad_edge(img)
    h, w = img.shape
    out = np.zeros((h, w))
    for dy in range(3):
        for dx in range(3):
            out += k[dy, dx] * p[dy : dy + h, dx : dx + w]
    return out


def edges(img):
    gx = np.zeros_like(img)
    gy = np.zeros_like(img)
    gx[:, 1:-1] = 0.5 * (img[:, 2:] - img[:, :-2])
    gy[1:-1, :] = 0.5 * (img[2:, :] - img[:-2, :])
    return gx, gy, np.sqrt(gx**2 + gy**2 + 1e-4)


def shrink(x, t):
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def program(img, threshold, amount):
    blurred = convolve3(img, KERNEL)
    gx, gy, mag = edges(blurred)
    detail = shrink(img - blurred, threshold)
    sharpened = blurred + amount * detail
    return sharpened, mag, np.sum(gx * gy)


def inputs(rng):
    return {"img": rng.uniform(0, 1, (5, 6)), "threshold": 0.02, "amount": 1.4}
