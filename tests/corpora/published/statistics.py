# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Hidden states, filters, samplers, mixtures, warping, kernels."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("statistics")

HALF_LOG_2PI = 0.9189385332046727


def log_total(terms):
    top = terms[0]
    for v in terms[1:]:
        if v > top:
            top = v
    acc = 0
    for v in terms:
        acc += math.exp(v - top)
    return top + math.log(acc)


def gaussian_baum_welch(y, initial, transitions, means, sds, floor=1e-8):
    """One pass of expectation and maximisation; returns the new parameters."""
    n_times = y.shape[0]
    n_states = means.shape[0]
    assert transitions.shape[1:] == (n_states, n_states)
    assert len(transitions) == 1 or len(transitions) == n_times - 1
    assert initial.shape == sds.shape == means.shape

    # one transition matrix for all times, or one for each
    varying = len(transitions) > 1
    log_b = np.zeros((n_times, n_states))
    for t in range(n_times):
        for k in range(n_states):
            z = (y[t] - means[k]) / sds[k]
            log_b[t, k] = -HALF_LOG_2PI - math.log(sds[k]) - 0.5 * z * z

    log_alpha = np.zeros((n_times, n_states))
    log_alpha[0] = np.log(initial) + log_b[0]
    for t in range(1, n_times):
        shift = log_alpha[t - 1].max()
        weights = np.exp(log_alpha[t - 1] - shift)
        arriving = weights @ transitions[(t - 1) * varying]
        log_alpha[t] = np.log(arriving) + shift + log_b[t]
    loglik = log_total(log_alpha[-1])

    log_beta = np.zeros((n_times, n_states))
    for t in range(n_times - 2, -1, -1):
        ahead = log_b[t + 1] + log_beta[t + 1]
        shift = ahead.max()
        leaving = np.dot(transitions[t * varying], np.exp(ahead - shift))
        log_beta[t] = np.log(leaving) + shift

    gamma = np.exp(log_alpha + log_beta - loglik)
    joint = np.zeros((n_states, n_states))
    for t in range(n_times - 1):
        P = transitions[t * varying]
        for i in range(n_states):
            for j in range(n_states):
                x = log_alpha[t, i] + log_b[t + 1, j] + log_beta[t + 1, j]
                joint[i, j] += P[i, j] * math.exp(x - loglik)

    new_transitions = np.empty((n_states, n_states))
    new_means = np.zeros(n_states)
    new_sds = np.zeros(n_states)
    for k in range(n_states):
        row = joint[k].sum() + floor
        new_transitions[k] = (joint[k] + floor / n_states) / row
        mass = gamma[:, k].sum()
        if mass < floor:
            new_means[k] = means[k]
            new_sds[k] = sds[k]
            continue
        new_means[k] = np.dot(gamma[:, k], y) / mass
        spread = 0.0
        for t in range(n_times):
            spread += gamma[t, k] * (y[t] - new_means[k]) ** 2
        new_sds[k] = math.sqrt(spread / mass + floor)
    return loglik, gamma[0].copy(), new_transitions, new_means, new_sds


case(
    gaussian_baum_welch,
    lambda n, m: dict(
        y=m(n),
        initial=m.positive(3) / 3.0,
        transitions=m.positive(n - 1, 3, 3) / 3.0,
        means=np.array([-0.6, 0.1, 0.7]),
        sds=np.array([0.4, 0.3, 0.5]),
    ),
    least=2,
    real=9,
    idiom="asserts of shapes; an index times a bool; a long pass; five values returned",
    seen="lindermanlab/ssm ssm/messages.py",
)


def most_likely_path(start, trans, emission, symbols):
    """Decodes states from symbols; logarithms are taken inside."""
    n_steps = symbols.size
    n_states = start.size
    log_trans = np.log(trans)
    back = np.zeros((n_steps, n_states)).astype(np.int32)
    score = np.log(start) + np.log(emission[:, symbols[0]])
    for t in range(1, n_steps):
        new = np.empty(n_states)
        for j in range(n_states):
            candidates = score + log_trans[:, j]
            back[t, j] = candidates.argmax()
            new[j] = candidates[back[t, j]] + np.log(emission[j, symbols[t]])
        score = new
    states = np.empty(n_steps, dtype=np.int32)
    states[-1] = np.argmax(score)
    for t in range(n_steps - 1, 0, -1):
        states[t - 1] = back[t, states[t]]
    return states, score[states[-1]]


case(
    most_likely_path,
    lambda n, m: dict(
        start=m.positive(3),
        trans=m.positive(3, 3),
        emission=m.positive(3, 4),
        symbols=m.indices(4, n),
    ),
    least=1,
    seed=182,
    idiom="back-pointers of astype(int32); argmax; an integer path with the score",
    seen="find_string '@jit(nopython=True) def viterbi'",
)


def kalman_means_covariances(ys, A, C, Q, R, mu0, S0):
    T, N = ys.shape
    D = mu0.shape[0]
    means = np.zeros((T, D))
    covariances = np.zeros((T, D, D))
    identity = np.eye(D)
    mu = mu0
    S = S0
    ll = 0.0
    for t in range(T):
        mu = A @ mu
        S = A @ S @ A.T + Q
        innovation = ys[t] - C @ mu
        V = C @ S @ C.T + R
        K = S @ C.T @ np.linalg.inv(V)
        ll -= N * HALF_LOG_2PI
        ll -= 0.5 * np.log(np.linalg.det(V))
        ll -= 0.5 * innovation @ np.linalg.solve(V, innovation)
        mu = mu + K @ innovation
        S = (identity - K @ C) @ S
        S = 0.5 * (S + S.T)
        means[t] = mu
        covariances[t] = S
    return ll, means, covariances


case(
    kalman_means_covariances,
    lambda n, m: dict(
        ys=m(n, 2),
        A=0.6 * m(3, 3),
        C=m(2, 3),
        Q=0.1 * m.definite(3),
        R=0.2 * m.definite(2),
        mu0=m(3),
        S0=m.definite(3),
    ),
    idiom="products with @, .T, inv, det and solve; state arrays rebound in the loop",
    seen="lindermanlab/ssm ssm/messages.py; find_string '@njit def kalman'",
)


def local_level_loglik(y, sigma2_eps, sigma2_eta, a1=0.0, P1=10.0):
    n = len(y)
    a = a1
    P = P1
    loglik = 0.0
    n_used = 0
    filtered = np.empty(n)
    for t in range(n):
        if np.isnan(y[t]):
            filtered[t] = a
            P = P + sigma2_eta
            continue
        v = y[t] - a
        F = P + sigma2_eps
        K = P / F
        loglik += -HALF_LOG_2PI - 0.5 * (math.log(F) + v * v / F)
        n_used += 1
        a = a + K * v
        filtered[t] = a
        P = P * (1.0 - K) + sigma2_eta
    return loglik, filtered, n_used


def _without_some(values):
    values[1::4] = np.nan
    return values


case(
    local_level_loglik,
    lambda n, m: dict(y=_without_some(m(n)), sigma2_eps=0.4, sigma2_eta=0.13),
    idiom="scalar filter; nan as a missing observation, skipped with continue",
    seen="numbagg/numbagg numbagg/moving_exp.py; find_string '@njit def kalman'",
)


def metropolis_chain(log_density, x0, n_samples, scale, *args):
    np.random.seed(11)
    d = len(x0)
    samples = np.empty((n_samples, d))
    # all draws beforehand
    uniforms = np.random.uniform(0.0, 1.0, n_samples)
    steps = np.random.standard_normal((n_samples, d))
    current = x0
    current_lp = log_density(current, *args)
    accepted = 0
    for k in range(n_samples):
        proposed = current + scale * steps[k]
        lp = log_density(proposed, *args)
        if np.log(uniforms[k]) < lp - current_lp:
            current = proposed
            current_lp = lp
            accepted += 1
        samples[k] = current
    return samples, accepted / max(n_samples, 1)


def banana_density(x, bend=0.3):
    return -0.5 * (x[0] ** 2 + (x[1] - bend * x[0] ** 2) ** 2)


case(
    metropolis_chain,
    lambda n, m: dict(
        log_density=banana_density,
        x0=m(2),
        n_samples=n,
        scale=0.6,
    ),
    idiom="a density as an argument with *args; the global generator; an accept branch",
    seen="tblaineau/parasim parallax_simulator_pipeline/metropolis_hastings.py",
)


def gibbs_normal(data, n_iter, burn_in, rng, mu0=0.0, tau0=4.0, shape=2.0, rate=1.0):
    n = data.shape[0]
    total = np.sum(data)
    mu = mu0
    sigma2 = 1.0
    kept = []
    for it in range(n_iter):
        precision = 1.0 / tau0 + n / sigma2
        mean = (mu0 / tau0 + total / sigma2) / precision
        mu = mean + rng.standard_normal() / np.sqrt(precision)
        ss = 0.0
        for x in data:
            ss += (x - mu) ** 2
        sigma2 = (rate + 0.5 * ss) / rng.gamma(shape + 0.5 * n)
        if it >= burn_in:
            kept.append((mu, sigma2))
    mu_mean = 0.0
    sigma2_mean = 0.0
    for m, s in kept:
        mu_mean += m / len(kept)
        sigma2_mean += s / len(kept)
    return mu_mean, sigma2_mean


case(
    gibbs_normal,
    lambda n, m: dict(data=m(n), n_iter=20, burn_in=5, rng=np.random.default_rng(3)),
    idiom="tuples appended to a list and unpacked again; draws of a generator argument",
    seen="find_string '@njit def gibbs'",
)


def _funnel_gradient(q, y, grad):
    v = q[0]
    grad[0] = v / 9.0
    for i in range(1, q.shape[0]):
        grad[0] += 0.5 - 0.5 * q[i] * q[i] * np.exp(-v)
        grad[i] = q[i] * np.exp(-v) + (q[i] - y[i - 1])


def funnel_leapfrog(q, p, y, step_size, n_leap, inv_mass):
    q = q.copy()
    p = p.copy()
    grad = np.zeros_like(q)
    _funnel_gradient(q, y, grad)
    p -= 0.5 * step_size * grad
    for step in range(n_leap):
        q += step_size * inv_mass * p
        _funnel_gradient(q, y, grad)
        if step < n_leap - 1:
            p -= step_size * grad
    p -= 0.5 * step_size * grad
    p *= -1.0
    kinetic = 0.5 * np.sum(inv_mass * p**2)
    return q, p, kinetic


case(
    funnel_leapfrog,
    lambda n, m: dict(
        q=m(n + 1),
        p=m(n + 1),
        y=m(n),
        step_size=0.1,
        n_leap=6,
        inv_mass=m.positive(n + 1),
    ),
    idiom="arguments copied under their names; whole-array updates in place",
    seen="find_string '@njit def leapfrog', leapfrog_compiled",
)


def lloyd_clusters(X, centers, max_iter=25, tol=1e-7):
    n, d = X.shape
    k = centers.shape[0]
    centers = centers.copy()
    labels = np.zeros(n, dtype=np.int64)
    inertia = 0.0
    for _ in range(max_iter):
        inertia = 0.0
        for i in range(n):
            best = np.inf
            for c in range(k):
                dist = np.sum((X[i] - centers[c]) ** 2)
                if dist < best:
                    best = dist
                    labels[i] = c
            inertia += best
        shift = 0.0
        for c in range(k):
            members = X[labels == c]
            if len(members) == 0:
                continue
            mean = np.array([members[:, j].mean() for j in range(d)])
            shift += np.sqrt(np.sum((mean - centers[c]) ** 2))
            centers[c] = mean
        if shift < tol:
            break
    return centers, labels, inertia


case(
    lloyd_clusters,
    lambda n, m: dict(
        X=0.2 * m(n, 2)
        + np.array([[-2.0, 0.0], [2.0, 1.0], [0.0, 3.0]])[np.arange(n) % 3],
        centers=np.array([[-1.5, 0.1], [1.6, 0.7], [0.1, 2.4]]),
    ),
    idiom="rows selected by label == c; a list comprehension; stops when nothing moves",
    seen="find_string '@njit def kmeans'",
)


def _normal_log_density(x, mean, chol):
    d = x.shape[0]
    out = -d * HALF_LOG_2PI
    z = np.zeros(d)
    for i in range(d):
        s = x[i] - mean[i]
        for j in range(i):
            s -= chol[i, j] * z[j]
        z[i] = s / chol[i, i]
        out -= np.log(chol[i, i]) + 0.5 * z[i] ** 2
    return out


def mixture_em_step(X, weights, means, covariances):
    n, d = X.shape
    K = len(weights)
    log_resp = np.zeros((n, K))
    loglik = 0.0
    chols = np.zeros_like(covariances)
    for k in range(K):
        chols[k] = np.linalg.cholesky(covariances[k])
    for i in range(n):
        log_den = np.empty(K)
        for k in range(K):
            log_den[k] = np.log(weights[k])
            log_den[k] += _normal_log_density(X[i], means[k], chols[k])
        norm = log_total(log_den)
        log_resp[i] = log_den - norm
        loglik += norm
    resp = np.exp(log_resp)
    nk = resp.sum(axis=0) + 1e-10
    new_means = np.zeros_like(means)
    new_covs = np.zeros_like(covariances)
    for k in range(K):
        for i in range(n):
            new_means[k] += resp[i, k] * X[i] / nk[k]
        for i in range(n):
            diff = X[i] - new_means[k]
            new_covs[k] += resp[i, k] * np.outer(diff, diff) / nk[k]
        new_covs[k] += 1e-6 * np.eye(d)
    return nk / n, new_means, new_covs, loglik


case(
    mixture_em_step,
    lambda n, m: dict(
        X=m(n, 2),
        weights=np.array([0.4, 0.6]),
        means=np.array([[-0.5, 0.1], [0.6, -0.2]]),
        covariances=np.stack((0.3 * m.definite(2), 0.2 * m.definite(2))),
    ),
    least=1,
    real=9,
    idiom="cholesky of slices of a 3-D array; outer products; sum over an axis",
    seen="find_string '@njit def gmm_', gmm_log_likelihood with e_step and m_step",
)


def _soft_minimum(a, b, c, gamma):
    lowest = min(a, b, c)
    a = (lowest - a) / gamma
    b = (lowest - b) / gamma
    c = (lowest - c) / gamma
    return lowest - gamma * math.log(math.exp(a) + math.exp(b) + math.exp(c))


def soft_alignment_cost(x, y, gamma=1.0, radius=None, out=None):
    if radius is None:
        radius = max(len(x), len(y))
    if out is None:
        out = np.empty((len(x), len(y)))
    out[...] = np.inf
    for i in range(len(x)):
        for j in range(len(y)):
            if abs(i - j) > radius:
                continue
            out[i, j] = (x[i] - y[j]) ** 2
            if i == 0 and j == 0:
                continue
            up = out[i - 1, j] if i > 0 else np.inf
            left = out[i, j - 1] if j > 0 else np.inf
            diagonal = out[i - 1, j - 1] if i > 0 and j > 0 else np.inf
            out[i, j] += _soft_minimum(up, left, diagonal, gamma)
    return out[-1, -1]


case(
    soft_alignment_cost,
    lambda n, m: dict(x=m(n), y=m(n + 1), gamma=0.4, radius=4),
    least=1,
    seed=50,
    idiom="out=None; arguments rebound in a helper; inf outside the table by ternaries",
    seen="tslearn-team/tslearn tslearn/metrics/_soft_dtw.py, soft_dtw_fast.py",
)


def gp_marginal_likelihood(x, y, theta):
    n = len(x)
    amplitude = theta["amplitude"] ** 2
    length = theta["length"]
    noise = theta.get("noise", 1e-2)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            r = abs(x[i] - x[j]) / length
            k = amplitude * (1.0 + math.sqrt(3.0) * r) * math.exp(-math.sqrt(3.0) * r)
            if i == j:
                k += noise
            for s in range(j):
                k -= L[i, s] * L[j, s]
            L[i, j] = math.sqrt(k) if i == j else k / L[j, j]
    alpha = y.copy()
    log_det = 0.0
    quad = 0.0
    for i in range(n):
        for s in range(i):
            alpha[i] -= L[i, s] * alpha[s]
        alpha[i] /= L[i, i]
        quad += alpha[i] * alpha[i]
        log_det += 2.0 * math.log(L[i, i])
    return -0.5 * quad - 0.5 * log_det - n * HALF_LOG_2PI


case(
    gp_marginal_likelihood,
    lambda n, m: dict(x=m.distinct(n), y=m(n), theta={"amplitude": 1.1, "length": 0.5}),
    idiom="hyperparameters in a dictionary, one by .get; kernel and factor in one loop",
    seen="find_string '@njit def rbf_kernel', compute_k_star and update_k",
)
