# Adjoint (reverse-mode derivative) of `conv2d` in kernels.py.
import numpy as np


def conv2d_adjoint(image, kernel, out, d_out):
    d_image = np.zeros_like(image)
    d_kernel = np.zeros_like(kernel)
    # kernels.py:11: out[y, x] += image[y + j, x + i] * kernel[j, i]
    for u in range(out.shape[0] + kernel.shape[0] - 1):  # gather: u = y + j; v = x + i
        for v in range(out.shape[1] + kernel.shape[1] - 1):
            for j in range(max(0, u - out.shape[0] + 1), min(kernel.shape[0], u + 1)):
                for i in range(max(0, v - out.shape[1] + 1), min(kernel.shape[1], v + 1)):
                    d_image[u, v] += d_out[u - j, v - i] * kernel[j, i]
    for j in range(kernel.shape[0]):
        for i in range(kernel.shape[1]):
            for y in range(out.shape[0]):
                for x in range(out.shape[1]):
                    d_kernel[j, i] += d_out[y, x] * image[y + j, x + i]
    return d_image, d_kernel, d_out.copy()
