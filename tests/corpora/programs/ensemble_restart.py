"""Weather: an ensemble that is restarted, with states kept as the arrays that they are.

Each state goes into a list without a copy, an observer corrects the first of the kept
ones under a name of its own, and the run goes on from the array that was put there.
"""

import numpy as np


def stepped(state, forcing):
    """The next state, a new array."""
    return 0.9 * state + forcing * np.roll(state, 1)


def corrected(kept, seen):
    """Writes what was seen into a kept state; gives by how much it was off."""
    off = 0.0
    for k in range(len(kept)):
        if not np.isnan(seen[k]):
            off += (kept[k] - seen[k]) ** 2
            kept[k] = 0.5 * (kept[k] + seen[k])
    return off


def program(state, forcing, seen):
    states = []
    misfit = 0.0
    for t in range(len(forcing)):
        state = stepped(state, forcing[t])
        states.append(state)
        latest = states[-1]
        misfit += corrected(latest, seen[t])
    return misfit + states[0] @ states[-1] + np.sum(state)


def inputs(rng):
    seen = rng.uniform(-1.0, 1.0, (3, 4))
    seen[1, 2] = np.nan
    return {
        "state": rng.uniform(-1.0, 1.0, 4),
        "forcing": rng.uniform(0.1, 0.5, 3),
        "seen": seen,
    }
