# Adjoint (reverse-mode derivative) of `mesh_forces` in nests.py.
import numpy as np


def mesh_forces_adjoint(x, start, end, stiffness, force, d_force):
    d_x = np.zeros_like(x)
    d_stiffness = np.zeros_like(stiffness)
    # nests.py:44: stretch = x[end[e]] - x[start[e]]
    stretch = x[end[:start.shape[0]]] - x[start]
    d_pull = np.zeros(start.shape[0])
    d_stretch = np.zeros(start.shape[0])
    # nests.py:45: if stretch > 0.0
    mask = stretch > 0.0
    # nests.py:48: force[end[e]] -= pull
    d_pull += np.where(mask, -d_force[np.where(mask, end[:start.shape[0]], 0)], 0.0)
    # nests.py:47: force[start[e]] += pull
    d_pull += np.where(mask, d_force[np.where(mask, start, 0)], 0.0)
    # nests.py:46: pull = stiffness[e] * np.sqrt(stretch)
    v = np.sqrt(np.where(mask, stretch, 1.0))
    if start.shape[0] > d_stiffness.shape[0]:
        raise IndexError("whole arrays read more of axis 0 of `d_stiffness` than there is")
    d_stiffness[:start.shape[0]] += np.where(mask, d_pull * v, 0.0)
    if start.shape[0] > stiffness.shape[0]:
        raise IndexError("whole arrays read more of axis 0 of `stiffness` than there is")
    d_v = d_pull * stiffness[:start.shape[0]]
    mask_2 = d_v != 0.0
    d_stretch += np.where(
        mask, np.where(mask_2, 0.5 * d_v / np.where(mask & mask_2, v, 1), 0.0), 0.0
    )
    # nests.py:44: stretch = x[end[e]] - x[start[e]]
    np.add.at(d_x, end[:start.shape[0]], d_stretch)
    np.add.at(d_x, start, -d_stretch)
    return d_x, d_stiffness, d_force.copy()


_mesh_forces_adjoint_unchecked = mesh_forces_adjoint


def mesh_forces_adjoint(x, start, end, stiffness, force, d_force):
    if d_force.shape != force.shape:
        raise ValueError('`d_force` must have the shape of `force`')
    if start.shape[0] >= end.shape[0] + 1:
        raise IndexError('nests.py:44: in `end[e]`, subscript `e` leaves axis 0 of `end`')
    return _mesh_forces_adjoint_unchecked(x, start, end, stiffness, force, d_force)
