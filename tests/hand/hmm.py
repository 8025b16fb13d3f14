"""The likelihood of observations: the forward algorithm of a hidden Markov model."""

import math

import numpy as np


def hmm(prior, transition, emission, seen):
    n = prior.shape[0]
    belief = np.zeros((seen.shape[0] + 1, n))
    belief[0] = prior
    likelihood = 0.0
    for t in range(seen.shape[0]):
        total = 0.0
        for j in range(n):
            reached = 0.0
            for i in range(n):
                reached += belief[t, i] * transition[i, j]
            belief[t + 1, j] = reached * emission[j, seen[t]]
            total += belief[t + 1, j]
        for j in range(n):
            belief[t + 1, j] /= total
        likelihood += math.log(total)
    return likelihood


def hmm_adjoint(prior, transition, emission, seen, d_result):
    n = prior.shape[0]
    belief = np.zeros((seen.shape[0] + 1, n))
    belief[0] = prior
    totals = np.zeros(seen.shape[0])
    for t in range(seen.shape[0]):
        for j in range(n):
            reached = 0.0
            for i in range(n):
                reached += belief[t, i] * transition[i, j]
            belief[t + 1, j] = reached * emission[j, seen[t]]
            totals[t] += belief[t + 1, j]
        belief[t + 1] /= totals[t]
    d_transition = np.zeros_like(transition)
    d_emission = np.zeros_like(emission)
    d_belief = np.zeros_like(belief)
    for t in range(seen.shape[0] - 1, -1, -1):
        # belief[t + 1, j] /= total; likelihood += math.log(total)
        d_total = d_result
        for j in range(n):
            d_total -= d_belief[t + 1, j] * belief[t + 1, j]
        for j in range(n):
            # belief[t + 1, j] = reached * emission[j, seen[t]]
            d_joint = (d_belief[t + 1, j] + d_total) / totals[t]
            reached = 0.0
            for i in range(n):
                reached += belief[t, i] * transition[i, j]
            d_emission[j, seen[t]] += d_joint * reached
            d_reached = d_joint * emission[j, seen[t]]
            for i in range(n):
                d_belief[t, i] += d_reached * transition[i, j]
                d_transition[i, j] += d_reached * belief[t, i]
    return d_belief[0], d_transition, d_emission


def hmm_tangent(
    prior, transition, emission, seen, dot_prior, dot_transition, dot_emission
):
    n = prior.shape[0]
    belief = np.zeros((seen.shape[0] + 1, n))
    dot_belief = np.zeros_like(belief)
    belief[0] = prior
    dot_belief[0] = dot_prior
    likelihood = dot_likelihood = 0.0
    for t in range(seen.shape[0]):
        total = dot_total = 0.0
        for j in range(n):
            reached = dot_reached = 0.0
            for i in range(n):
                reached += belief[t, i] * transition[i, j]
                dot_reached += (
                    dot_belief[t, i] * transition[i, j]
                    + belief[t, i] * dot_transition[i, j]
                )
            belief[t + 1, j] = reached * emission[j, seen[t]]
            dot_belief[t + 1, j] = (
                dot_reached * emission[j, seen[t]] + reached * dot_emission[j, seen[t]]
            )
            total += belief[t + 1, j]
            dot_total += dot_belief[t + 1, j]
        for j in range(n):
            belief[t + 1, j] /= total
            # by the quotient, which is there now
            dot_belief[t + 1, j] -= belief[t + 1, j] * dot_total
            dot_belief[t + 1, j] /= total
        likelihood += math.log(total)
        dot_likelihood += dot_total / total
    return likelihood, dot_likelihood


def arguments(n, rng):
    return {
        "prior": rng.uniform(0.5, 1.5, n),
        "transition": rng.uniform(0.5, 1.5, (n, n)),
        "emission": rng.uniform(0.5, 1.5, (n, n + 1)),
        "seen": rng.integers(0, n + 1, n + 2),
    }
