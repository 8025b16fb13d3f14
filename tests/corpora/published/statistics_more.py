# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B905
"""Survival, point processes, bootstrap, regression, forecasts, trees, layouts."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("statistics")

LINEAR = 0
LOGISTIC = 1


def cox_breslow_loss(times, events, X, beta, l2=0.0):
    """Negative log partial likelihood, ties after Breslow."""
    n, p = X.shape
    order = np.argsort(-times, kind="mergesort")
    lp = X @ beta
    risk = 0.0
    loss = 0.0
    i = 0
    while i < n:
        j = i
        n_events = 0
        sum_lp = 0.0
        while j < n and times[order[j]] == times[order[i]]:
            k = order[j]
            risk += np.exp(lp[k])
            if events[k]:
                n_events += 1
                sum_lp += lp[k]
            j += 1
        if n_events > 0:
            loss += n_events * np.log(risk) - sum_lp
        i = j
    for c in range(p):
        loss += 0.5 * l2 * beta[c] ** 2
    return loss


case(
    cox_breslow_loss,
    lambda n, m: dict(
        times=1 + m.indices(9, n),
        events=np.arange(n) % 3 != 1,
        X=m(n, 2),
        beta=m(2),
        l2=0.1,
    ),
    idiom="argsort, then nested whiles over tied times; a risk set that grows",
    seen="find_string '@njit def cox_', cox_loss and breslow_est",
)


def weighted_product_limit(durations, observed, weights, grid):
    order = np.argsort(durations)
    d = durations[order]
    e = observed[order]
    w = weights[order]
    at_risk = w.sum()
    s = 1.0
    greenwood = 0.0
    curve = [1.0]
    jumps = [0.0]
    for k, (t, died, weight) in enumerate(zip(d, e, w)):
        if died:
            s *= 1.0 - weight / at_risk
            if k < len(d) - 1:
                greenwood += weight / (at_risk * (at_risk - weight))
            jumps.append(t)
            curve.append(s)
        at_risk -= weight
    out = np.ones(len(grid))
    pos = 0
    for i, g in enumerate(grid):
        while pos + 1 < len(jumps) and jumps[pos + 1] <= g:
            pos += 1
        out[i] = curve[pos]
    return out, s * s * greenwood


case(
    weighted_product_limit,
    lambda n, m: dict(
        durations=m.distinct(n) + 0.1 * n,
        observed=np.arange(n) % 4 != 3,
        weights=m.positive(n),
        grid=0.1 * np.arange(0.0, 2.0 * n, 3.0),
    ),
    seed=2,
    idiom="arrays reordered by argsort; enumerate of zip; lists searched",
    seen="find_string 'def kaplan_meier('",
)


def hawkes_neg_loglik(params, events, T):
    mu, alpha, beta = params
    if np.any(params <= 0):
        return 1e10
    if alpha >= beta:
        return 1e10
    if events.size == 0:
        return mu * T
    gaps = np.diff(events)
    memory = 0.0
    loglik = math.log(mu) - mu * T
    for gap in gaps:
        memory = (memory + 1.0) * math.exp(-beta * gap)
        intensity = mu + alpha * memory
        if intensity <= 1e-15:
            return 1e10
        loglik += math.log(intensity)
    loglik -= alpha / beta * np.sum(1.0 - np.exp(-beta * (T - events)))
    return -loglik


case(
    hawkes_neg_loglik,
    lambda n, m: dict(
        params=np.array([0.7, 0.5, 1.3]),
        events=np.cumsum(m.positive(n)),
        T=1.6 * n + 1.0,
    ),
    idiom="an array unpacked into three names; large values returned where infeasible",
    seen="find_string '@njit def hawkes', hawkes_loglik",
)


def _frequency_draws(counts, n):
    cumulative = np.cumsum(counts)
    u = np.random.random(n) * cumulative[-1]
    return np.searchsorted(cumulative, u, side="right")


def bootstrap_interval(x, counts, n_boot=20, level=0.9, seed=42):
    np.random.seed(seed)
    n = np.sum(counts)
    if n < 2:
        return 0.0, 0.0, 0.0
    boots = np.zeros(n_boot)
    for b in range(n_boot):
        idx = _frequency_draws(counts, n)
        boots[b] = np.mean(x[idx])
    boots.sort()
    lo = boots[int((1.0 - level) / 2.0 * n_boot)]
    hi = boots[int((1.0 + level) / 2.0 * n_boot)]
    return lo, hi, np.std(boots)


case(
    bootstrap_interval,
    lambda n, m: dict(x=m.distinct(n), counts=1 + m.indices(3, n), n_boot=12),
    seed=1,
    idiom="draws by searchsorted of summed counts; a sort in place; quantiles",
    seen="find_string '@njit def bootstrap'",
)


def loo_kernel_regression(X, y, bandwidth, kernel="gaussian"):
    n, d = X.shape
    fitted = np.zeros(n)
    score = 0.0
    for i in range(n):
        num = 0.0
        den = 0.0
        for j in range(n):
            if j == i:
                continue
            w = 1.0
            for c in range(d):
                u = (X[i, c] - X[j, c]) / bandwidth[c]
                if kernel == "gaussian":
                    w *= math.exp(-0.5 * u * u)
                elif kernel == "epanechnikov":
                    w *= 0.75 * (1.0 - u * u) if -1.0 < u < 1.0 else 0.0
                elif kernel == "logistic":
                    w *= 1.0 / (math.exp(u) + 2.0 + math.exp(-u))
                else:
                    raise ValueError("unknown kernel: " + kernel)
            num += w * y[j]
            den += w
        if den > 0.0:
            fitted[i] = num / den
        score += (y[i] - fitted[i]) ** 2
    return score / max(n, 1), fitted


case(
    loo_kernel_regression,
    lambda n, m: dict(
        X=m(n, 2), y=m(n), bandwidth=np.array([0.6, 0.8]), kernel="logistic"
    ),
    idiom="kernels by name in an if chain; the point itself left out by continue",
    seen="find_string '@njit def rbf_kernel', compute_kernel_gram_matrix",
)


def _shrink(value, lam):
    return np.sign(value) * max(abs(value) - lam, 0.0)


def lasso_descent(X, y, lam, max_epochs=30, tol=1e-12, verbose=False):
    n, p = X.shape
    beta = np.zeros(p)
    resid = y.copy()
    norms = np.zeros(p)
    for j in range(p):
        for i in range(n):
            norms[j] += X[i, j] ** 2
    epoch = 0
    largest = tol + 1.0
    while largest > tol and epoch < max_epochs:
        largest = 0.0
        for j in range(p):
            if norms[j] == 0.0:
                continue
            old = beta[j]
            rho = norms[j] * old
            for i in range(n):
                rho += X[i, j] * resid[i]
            beta[j] = _shrink(rho, lam) / norms[j]
            change = beta[j] - old
            if change != 0.0:
                for i in range(n):
                    resid[i] -= change * X[i, j]
                if abs(change) > largest:
                    largest = abs(change)
        epoch += 1
        if verbose:
            print("epoch", epoch, largest)
    return beta, epoch


case(
    lasso_descent,
    lambda n, m: dict(X=m(n, 3), y=m.away(n), lam=0.11),
    seed=1,
    idiom="a residual kept up to date; a while with two conditions; a print",
    seen="find_string '@njit def soft_threshold', sparse_cd",
)


def ets_recursion(
    y, m, params, trend_kind="add", season_kind="add", phi=1.0, horizon=3, bounded=True
):
    n = len(y)
    if n < 2 * m:
        raise ValueError("two full seasons are needed")
    if trend_kind not in ("none", "add", "mul"):
        raise ValueError("unknown trend: " + trend_kind)
    alpha = params[0]
    beta = params[1] if trend_kind != "none" else 0.0
    gamma = params[2] if season_kind != "none" else 0.0
    if bounded and not (0.0 < beta < alpha < 1.0 and 0.0 <= gamma < 1.0 - alpha):
        return 1e12, np.zeros(horizon), np.zeros((n, 2))

    level = y[:m].mean()
    later = y[m : 2 * m].mean()
    if trend_kind == "mul":
        trend = (later / level) ** (1.0 / m)
    elif trend_kind == "add":
        trend = (later - level) / m
    else:
        trend = 0.0
    season = np.zeros(m)
    if season_kind == "mul":
        season[:] = y[:m] / level
    elif season_kind == "add":
        season[:] = y[:m] - level

    states = np.zeros((n, 2))
    sse = 0.0
    log_scale = 0.0
    for t in range(n):
        s = season[t % m]
        base = level * trend**phi if trend_kind == "mul" else level + phi * trend
        if season_kind == "mul":
            fit = base * s
            cleaned = y[t] / s
            detrended = y[t] / base
            log_scale += math.log(abs(base))
        elif season_kind == "add":
            fit = base + s
            cleaned = y[t] - s
            detrended = y[t] - base
        else:
            fit = base
            cleaned = y[t]
            detrended = 0.0
        error = y[t] - fit
        sse += error * error
        old = level
        level = alpha * cleaned + (1.0 - alpha) * base
        if trend_kind == "mul":
            trend = beta * level / old + (1.0 - beta) * trend**phi
        elif trend_kind == "add":
            trend = beta * (level - old) + (1.0 - beta) * phi * trend
        season[t % m] = gamma * detrended + (1.0 - gamma) * s
        states[t, 0] = level
        states[t, 1] = trend

    forecast = np.zeros(horizon)
    damp = 0.0
    for h in range(horizon):
        damp += phi ** (h + 1)
        base = level * trend**damp if trend_kind == "mul" else level + damp * trend
        s = season[(n + h) % m]
        forecast[h] = base * s if season_kind == "mul" else base + s
    loss = n * math.log(sse / n) + 2.0 * log_scale
    return loss, forecast, states


case(
    ets_recursion,
    lambda n, m: dict(
        y=3.0 + m.positive(2 * n + 4),
        m=2 + n // 6,
        params=np.array([0.5, 0.1, 0.2]),
        season_kind="mul",
        phi=0.95,
    ),
    idiom="components by name; a season kept in a ring by t % m; chained comparisons",
    seen="aeon-toolkit/aeon aeon/forecasting/stats/_ces.py",
)


def arma_conditional_loss(X, intercept, ar, ma, return_residuals=False):
    n_ts, size = X.shape
    p = ar.shape[0]
    q = ma.shape[0]
    start = max(p, q)
    history = np.zeros((n_ts, max(q, 1)))
    sse = 0
    count = 0
    residuals = []
    for t in range(start, size):
        current = X[:, t] - intercept
        for i in range(p):
            current -= ar[i] * X[:, t - 1 - i]
        for i in range(q):
            current -= ma[i] * history[:, -1 - i]
        sse += np.sum(current * current)
        count += n_ts
        if q > 0:
            history[:, :-1] = history[:, 1:]
            history[:, -1] = current
        residuals.append(current.copy())
    if count == 0:
        return 0.0, history
    variance = sse / count
    loss = count * (np.log(2 * np.pi) + np.log(variance) + 1) / 2
    if return_residuals:
        return loss, np.column_stack(residuals)
    return loss, history


case(
    arma_conditional_loss,
    lambda n, m: dict(
        X=m(2, n), intercept=0.1, ar=np.array([0.5, -0.2]), ma=np.array([0.3, 0.1])
    ),
    idiom="columns of several series; a history shifted by slices; a list of arrays",
    seen="tslearn-team/tslearn tslearn/forecasting/_arima.py",
)


def _least_squares_line(x, y):
    mx = x.mean()
    my = y.mean()
    cov = 0.0
    var = 0.0
    for a, b in zip(x, y):
        cov += (a - mx) * (b - my)
        var += (a - mx) ** 2
    return cov / var, my - cov / var * mx


def curve_length_dimension(x, kmax):
    n = len(x)
    log_k = []
    log_length = []
    for k in range(1, kmax + 1):
        total = 0
        for offset in range(k):
            steps = (n - 1 - offset) // k
            if steps < 1:
                continue
            path = 0
            pos = offset
            while pos + k < n:
                path += abs(x[pos + k] - x[pos])
                pos += k
            total += path * (n - 1) / (steps * k * k)
        log_k.append(-math.log(k))
        log_length.append(math.log(total / k))
    slope, _ = _least_squares_line(np.array(log_k), np.array(log_length))
    return slope


case(
    curve_length_dimension,
    lambda n, m: dict(x=m.distinct(n + 4), kmax=3),
    idiom="lists made arrays; an int that becomes a float; a discarded second value",
    seen="raphaelvallat/antropy src/antropy/fractal.py",
)

node_dtype = np.dtype(
    [
        ("feature", np.int32),
        ("threshold", np.float64),
        ("left", np.int32),
        ("right", np.int32),
        ("value", np.float64),
        ("is_leaf", np.bool_),
    ]
)


def boosted_prediction(X, nodes, roots, learning_rate, baseline=0.0, link=LINEAR):
    n = X.shape[0]
    raw = np.full(n, baseline)
    for i in range(n):
        for root in roots:
            node_idx = root
            while True:
                node = nodes[node_idx]
                if node["is_leaf"]:
                    raw[i] += learning_rate * node["value"]
                    break
                x = X[i, node["feature"]]
                if x <= node["threshold"]:
                    node_idx = node["left"]
                else:
                    node_idx = node["right"]
    if link == LOGISTIC:
        return 1.0 / (1.0 + np.exp(-raw))
    return raw


def _two_trees():
    nodes = np.zeros(8, dtype=node_dtype)
    nodes[0] = (0, 0.1, 1, 2, 0.0, False)
    nodes[1] = (0, 0.0, 0, 0, -0.7, True)
    nodes[2] = (1, -0.1, 3, 4, 0.0, False)
    nodes[3] = (0, 0.0, 0, 0, 0.2, True)
    nodes[4] = (0, 0.0, 0, 0, 1.1, True)
    nodes[5] = (1, 0.05, 6, 7, 0.0, False)
    nodes[6] = (0, 0.0, 0, 0, 0.6, True)
    nodes[7] = (0, 0.0, 0, 0, -0.3, True)
    return nodes


case(
    boosted_prediction,
    lambda n, m: dict(
        X=m.away(n, 2),
        nodes=_two_trees(),
        roots=np.array([0, 5]),
        learning_rate=0.3,
        link=LOGISTIC,
    ),
    idiom="a structured array of nodes; while True with a break; one of two returns",
    seen="find_string '@njit def predict_tree'",
)


def clip_step(value, bound=4.0):
    return max(-bound, min(bound, value))


def layout_epochs(embedding, head, tail, samples, a, b, n_epochs, alpha0=1.0):
    n, dim = embedding.shape
    due = samples.copy()
    for epoch in range(n_epochs):
        alpha = alpha0 * (1.0 - epoch / n_epochs)
        for e in range(head.size):
            if due[e] > epoch + 1:
                continue
            due[e] += samples[e]
            here = embedding[head[e]]
            there = embedding[tail[e]]
            r2 = 0.0
            for c in range(dim):
                r2 += (here[c] - there[c]) ** 2
            rb = r2**b
            pull = -2.0 * a * b * rb / (r2 * (1.0 + a * rb)) if r2 > 0.0 else 0.0
            for c in range(dim):
                step = alpha * clip_step(pull * (here[c] - there[c]))
                here[c] += step
                there[c] -= step
            k = (head[e] * 7 + epoch + 1) % n
            if k == head[e]:
                continue
            away = here - embedding[k]
            r2 = np.sum(away**2)
            push = 2.0 * b / ((0.1 + r2) * (1.0 + a * r2**b))
            for c in range(dim):
                here[c] += alpha * clip_step(push * away[c])
    return embedding


case(
    layout_epochs,
    lambda n, m: dict(
        embedding=m.distinct(n, 2),
        head=np.arange(n - 1),
        tail=np.arange(1, n),
        samples=1 + np.arange(n - 1) % 2,
        a=1.1,
        b=0.9,
        n_epochs=3,
        alpha0=0.05,
    ),
    out="embedding",
    least=2,
    idiom="rows as views written through; edges by index arrays; a clip helper",
    seen="lmcinnes/umap umap/layouts.py, umap/umap_.py",
)


def tailed_peak_logpdf(x: np.ndarray, beta, m, loc, scale) -> np.ndarray:
    T = type(beta)
    half = T(0.5)
    one = T(1)
    inv_scale = one / scale
    m1 = m - one
    tail = m / (beta * m1) * np.exp(-half * beta * beta)
    core = T(math.sqrt(0.5 * math.pi)) * T(1.0 + math.erf(beta / math.sqrt(2.0)))
    log_norm = np.log((tail + core) * scale)
    log_a = m * np.log(m / beta) - half * beta * beta
    b = m / beta - beta
    r = np.empty_like(x)
    for i in range(len(x)):
        z = (x[i] - loc) * inv_scale
        if z < -beta:
            r[i] = log_a - m * np.log(b - z)
        else:
            r[i] = -half * z * z
        r[i] -= log_norm
    return r


case(
    tailed_peak_logpdf,
    lambda n, m: dict(x=m.distinct(n), beta=1.113, m=2.7, loc=0.05, scale=0.31),
    idiom="constants cast by type(beta); a density in two pieces; annotations",
    seen="HDembinski/numba-stats src/numba_stats/crystalball.py",
)


def pooled_adjacent(y, w, sol):
    n = y.shape[0]
    level = np.empty(n)
    mass = np.empty(n)
    size = np.zeros(n, dtype=np.int64)
    top = -1
    for i in range(n):
        top += 1
        level[top], mass[top], size[top] = y[i], w[i], 1
        while top > 0 and level[top - 1] > level[top]:
            both = mass[top - 1] + mass[top]
            level[top - 1] *= mass[top - 1] / both
            level[top - 1] += level[top] * mass[top] / both
            mass[top - 1] = both
            size[top - 1] += size[top]
            top -= 1
    start = 0
    for block in range(top + 1):
        stop = start + size[block]
        sol[start:stop] = level[block]
        start = stop


case(
    pooled_adjacent,
    lambda n, m: dict(y=m.distinct(n), w=m.positive(n), sol=np.zeros(n)),
    out="sol",
    seed=7,
    idiom="a stack of blocks in arrays; a while that merges; no return",
    seen="find_string '@njit def isotonic'; google-research/fast-soft-sort",
)


def sparse_count_regression(
    indptr, indices, data, counts, beta, family="poisson", r=2.0
):
    n_rows = indptr.shape[0] - 1
    grad = np.zeros_like(beta)
    loss = 0.0
    for i in range(n_rows):
        eta = 0.0
        for idx in range(indptr[i], indptr[i + 1]):
            eta += data[idx] * beta[indices[idx]]
        mu = np.exp(eta)
        y = counts[i]
        if family == "poisson":
            loss += mu - y * eta + gammaln(y + 1.0)
            slope = mu - y
        else:
            loss -= gammaln(y + r) - gammaln(r) - gammaln(y + 1.0)
            loss += (y + r) * np.log(r + mu) - y * eta - r * np.log(r)
            slope = r * (mu - y) / (r + mu)
        for idx in range(indptr[i], indptr[i + 1]):
            grad[indices[idx]] += slope * data[idx]
    return loss, grad


case(
    sparse_count_regression,
    lambda n, m: dict(
        indptr=2 * np.arange(n + 1),
        indices=m.indices(4, 2 * n),
        data=m(2 * n),
        counts=m.indices(5, n),
        beta=m(4),
        family="negbinomial",
        r=1.7,
    ),
    idiom="a sparse matrix as three arrays; scipy.special; a family by name",
    seen="HDembinski/numba-stats src/numba_stats/binom.py; lmcinnes/umap",
)
