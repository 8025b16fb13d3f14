# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Recurrences and dynamic programming: alignment, hidden Markov models, scans."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()


def smith_waterman(a, b, similarity, gap):
    n, m = len(a), len(b)
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = h[i - 1, j - 1] + similarity[a[i - 1], b[j - 1]]
            h[i, j] = max(0.0, diagonal, h[i - 1, j] - gap, h[i, j - 1] - gap)
            if h[i, j] > best:
                best = h[i, j]
    return best


case(
    smith_waterman,
    lambda n, m: dict(
        a=m.indices(4, n),
        b=m.indices(4, n + 1),
        similarity=m.distinct(4, 4),
        gap=m.scalar(0.2, 0.4),
    ),
    real=9,
    covers=("index from an array",),
)


def smith_waterman_soft(score, gap, temperature):
    n, m = score.shape
    h = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            match = math.exp((h[i, j] + score[i, j]) / temperature)
            delete = math.exp((h[i, j + 1] - gap) / temperature)
            insert = math.exp((h[i + 1, j] - gap) / temperature)
            h[i + 1, j + 1] = temperature * math.log(1.0 + match + delete + insert)
    total = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            total += math.exp(h[i, j] / temperature)
    return temperature * math.log(total)


case(
    smith_waterman_soft,
    lambda n, m: dict(
        score=m(n, n + 2), gap=m.scalar(0.5, 1.0), temperature=m.scalar(1.0, 2.0)
    ),
    real=9,
)


def affine_gap_alignment(score, gap_open, gap_extend):
    n = score.shape[0]
    m = score.shape[1]
    low = -1e3
    match = np.full((n + 1, m + 1), low)
    insert = np.full((n + 1, m + 1), low)
    delete = np.full((n + 1, m + 1), low)
    match[0, 0] = 0.0
    for i in range(1, n + 1):
        delete[i, 0] = -gap_open - (i - 1) * gap_extend
    for j in range(1, m + 1):
        insert[0, j] = -gap_open - (j - 1) * gap_extend
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            before = max(match[i - 1, j - 1], insert[i - 1, j - 1])
            before = max(before, delete[i - 1, j - 1])
            match[i, j] = before + score[i - 1, j - 1]
            insert[i, j] = max(
                match[i, j - 1] - gap_open, insert[i, j - 1] - gap_extend
            )
            delete[i, j] = max(
                match[i - 1, j] - gap_open, delete[i - 1, j] - gap_extend
            )
    return max(match[n, m], insert[n, m], delete[n, m])


case(
    affine_gap_alignment,
    lambda n, m: dict(
        score=m.distinct(n, n + 1), gap_open=m.scalar(0.5, 0.8), gap_extend=0.17
    ),
    real=6,
)


def edit_distance(source, target, insertion, deletion, substitution):
    n, m = source.shape[0], target.shape[0]
    previous = np.zeros(m + 1)
    current = np.zeros(m + 1)
    for j in range(1, m + 1):
        previous[j] = previous[j - 1] + insertion[target[j - 1]]
    for i in range(n):
        current[0] = previous[0] + deletion[source[i]]
        for j in range(m):
            change = previous[j]
            if source[i] != target[j]:
                change += substitution[source[i], target[j]]
            current[j + 1] = min(
                change,
                previous[j + 1] + deletion[source[i]],
                current[j] + insertion[target[j]],
            )
        previous, current = current, previous
    return previous[m]


case(
    edit_distance,
    lambda n, m: dict(
        source=m.indices(5, n),
        target=m.indices(5, n + 2),
        insertion=m.positive(5),
        deletion=m.positive(5),
        substitution=m.positive(5, 5),
    ),
    real=9,
    covers=("buffers swapped by name", "index from an array"),
)


def dtw_two_rows(a, b):
    inf = np.inf
    last = np.full(b.shape[0] + 1, inf)
    last[0] = 0.0
    for i in range(a.shape[0]):
        row = np.full(b.shape[0] + 1, inf)
        for j in range(b.shape[0]):
            step = abs(a[i] - b[j])
            row[j + 1] = step + min(last[j], last[j + 1], row[j])
        last = row
    return last[-1]


case(
    dtw_two_rows,
    lambda n, m: dict(a=3.0 * m.distinct(n + 1), b=3.0 * m.distinct(n + 2) + 0.01),
    real=7,
    covers=("rebound array", "negative index"),
)


def soft_dtw(x, y, gamma):
    n, d = x.shape
    m = y.shape[0]
    r = np.full((n + 1, m + 1), 1e6)
    r[0, 0] = 0.0
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            cost = 0.0
            for k in range(d):
                cost += (x[i - 1, k] - y[j - 1, k]) ** 2
            r0 = -r[i - 1, j - 1] / gamma
            r1 = -r[i - 1, j] / gamma
            r2 = -r[i, j - 1] / gamma
            rmax = max(r0, r1, r2)
            total = math.exp(r0 - rmax) + math.exp(r1 - rmax) + math.exp(r2 - rmax)
            r[i, j] = cost - gamma * (math.log(total) + rmax)
    return r[n, m]


case(
    soft_dtw,
    lambda n, m: dict(x=m(n, 2), y=m(n + 1, 2), gamma=m.scalar(0.8, 1.2)),
    least=1,
    real=8,
)


def viterbi_score(initial, transition, emission, observed):
    states = initial.shape[0]
    score = np.empty(states)
    new = np.empty(states)
    for s in range(states):
        score[s] = initial[s] + emission[s, observed[0]]
    for t in range(1, observed.shape[0]):
        for s in range(states):
            best = score[0] + transition[0, s]
            for r in range(1, states):
                candidate = score[r] + transition[r, s]
                if candidate > best:
                    best = candidate
            new[s] = best + emission[s, observed[t]]
        score, new = new, score
    result = score[0]
    for s in range(1, states):
        if score[s] > result:
            result = score[s]
    return result


case(
    viterbi_score,
    lambda n, m: dict(
        initial=m(3), transition=m(3, 3), emission=m(3, 4), observed=m.indices(4, n)
    ),
    least=1,
    real=9,
    covers=("buffers swapped by name", "index from an array"),
)


def hmm_forward(initial, transition, emission, observed):
    alpha = initial * emission[:, observed[0]]
    likelihood = 0.0
    for t in range(1, len(observed)):
        scale = np.sum(alpha)
        likelihood += np.log(scale)
        alpha = (alpha / scale) @ transition * emission[:, observed[t]]
    return likelihood + np.log(np.sum(alpha))


case(
    hmm_forward,
    lambda n, m: dict(
        initial=m.positive(3),
        transition=m.positive(3, 3),
        emission=m.positive(3, 4),
        observed=m.indices(4, n),
    ),
    least=1,
    real=17,
    covers=("rebound array", "index from an array"),
)


def ctc_forward(logits, labels, blank):
    steps, classes = logits.shape
    extended = 2 * labels.shape[0] + 1
    alpha = np.zeros((steps, extended))
    prob = np.zeros((steps, classes))
    for t in range(steps):
        norm = 0.0
        for c in range(classes):
            prob[t, c] = math.exp(logits[t, c])
            norm += prob[t, c]
        for c in range(classes):
            prob[t, c] /= norm
    alpha[0, 0] = prob[0, blank]
    if extended > 1:
        alpha[0, 1] = prob[0, labels[0]]
    for t in range(1, steps):
        for s in range(extended):
            label = blank if s % 2 == 0 else labels[s // 2]
            total = alpha[t - 1, s]
            if s > 0:
                total += alpha[t - 1, s - 1]
            if s > 1 and s % 2 == 1 and labels[s // 2] != labels[s // 2 - 1]:
                total += alpha[t - 1, s - 2]
            alpha[t, s] = total * prob[t, label]
    likelihood = alpha[steps - 1, extended - 1]
    if extended > 1:
        likelihood += alpha[steps - 1, extended - 2]
    return -math.log(likelihood)


case(
    ctc_forward,
    lambda n, m: dict(logits=m(2 * n + 1, 4), labels=1 + m.indices(3, n), blank=0),
    least=1,
    real=5,
    covers=("index from an array",),
)


def knapsack_soft(values, weights, capacity, beta):
    best = np.zeros(capacity + 1)
    for i in range(values.shape[0]):
        for c in range(capacity, weights[i] - 1, -1):
            take = best[c - weights[i]] + values[i]
            leave = best[c]
            best[c] = math.log(math.exp(beta * take) + math.exp(beta * leave)) / beta
    return best[capacity]


case(
    knapsack_soft,
    lambda n, m: dict(
        values=m.positive(n), weights=1 + m.indices(3, n), capacity=8, beta=1.5
    ),
    real=10,
    covers=("bounds from data", "overwrites what was read", "negative step"),
)


def matrix_chain(dims):
    n = dims.shape[0] - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 1e9
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
    return cost[0, n - 1]


case(
    matrix_chain,
    lambda n, m: dict(dims=10 * m.positive(n + 1)),
    least=1,
    real=6,
    covers=("triangular",),
)


def longest_increasing_weight(x, weight):
    n = x.shape[0]
    best = np.zeros(n)
    answer = 0.0
    for i in range(n):
        best[i] = weight[i]
        for j in range(i):
            if x[j] < x[i] and best[j] + weight[i] > best[i]:
                best[i] = best[j] + weight[i]
        answer = max(answer, best[i])
    return answer


case(
    longest_increasing_weight,
    lambda n, m: dict(x=m.distinct(n), weight=m.positive(n)),
    real=9,
    covers=("triangular",),
)


def seam_carving(energy):
    cost = energy.copy()
    rows, cols = cost.shape
    for y in range(1, rows):
        for x in range(cols):
            best = cost[y - 1, x]
            if x > 0:
                best = min(best, cost[y - 1, x - 1])
            if x < cols - 1:
                best = min(best, cost[y - 1, x + 1])
            cost[y, x] += best
    return np.min(cost[-1, :])


case(
    seam_carving,
    lambda n, m: dict(energy=m.distinct(n, n + 1)),
    least=1,
    real=6,
    covers=("negative index", "overwrites what was read"),
)


def exponential_smoothing(series, level, trend):
    n = series.shape[0]
    state = series[0]
    slope = series[1] - series[0]
    error = 0.0
    for t in range(1, n):
        guess = state + slope
        error += (series[t] - guess) ** 2
        before = state
        state = level * series[t] + (1 - level) * (state + slope)
        slope = trend * (state - before) + (1 - trend) * slope
    return error / n


case(
    exponential_smoothing,
    lambda n, m: dict(series=m(n), level=m.scalar(0.2, 0.8), trend=m.scalar(0.1, 0.4)),
    least=2,
    real=30,
)


def kalman_filter(z, q, r):
    x = 0.0
    p = 1.0
    filtered = np.empty_like(z)
    for k in range(z.shape[0]):
        p = p + q
        gain = p / (p + r)
        x = x + gain * (z[k] - x)
        p = (1.0 - gain) * p
        filtered[k] = x
    return filtered


case(
    kalman_filter,
    lambda n, m: dict(z=m(n), q=m.scalar(0.1, 0.3), r=m.scalar()),
    real=30,
)


def garch_likelihood(returns, omega, alpha, beta):
    sigma2 = omega / (1.0 - alpha - beta)
    total = 0.0
    for r in returns:
        total += math.log(sigma2) + r * r / sigma2
        sigma2 = omega + alpha * r * r + beta * sigma2
    return -0.5 * total


case(
    garch_likelihood,
    lambda n, m: dict(
        returns=m(n),
        omega=m.scalar(0.1, 0.2),
        alpha=m.scalar(0.1, 0.2),
        beta=m.scalar(0.5, 0.6),
    ),
    real=30,
)


def lstm_cell(x, w, u, b):
    hidden = u.shape[1]
    h = np.zeros(hidden)
    c = np.zeros(hidden)
    for t in range(x.shape[0]):
        gates = w @ x[t] + u @ h + b
        for k in range(hidden):
            i = 1.0 / (1.0 + math.exp(-gates[k]))
            f = 1.0 / (1.0 + math.exp(-gates[hidden + k]))
            o = 1.0 / (1.0 + math.exp(-gates[2 * hidden + k]))
            g = math.tanh(gates[3 * hidden + k])
            c[k] = f * c[k] + i * g
            h[k] = o * math.tanh(c[k])
    return np.sum(h * h)


case(
    lstm_cell,
    lambda n, m: dict(x=m(n, 2), w=m(12, 2), u=m(12, 3), b=m(12)),
    real=8,
)


def gru_sequence(x, wz, wr, wh, h):
    for t in range(x.shape[0]):
        z = 1.0 / (1.0 + np.exp(-(wz * x[t] + h)))
        r = 1.0 / (1.0 + np.exp(-(wr * x[t] + h)))
        candidate = np.tanh(wh * x[t] + r * h)
        h[:] = (1.0 - z) * h + z * candidate


case(
    gru_sequence,
    lambda n, m: dict(x=m(n), wz=m(3), wr=m(3), wh=m(3), h=m(3)),
    "h",
    real=12,
)


def biquad_cascade(signal, sections):
    y = signal.copy()
    for s in range(sections.shape[0]):
        b0, b1, b2, a1, a2 = (
            sections[s, 0],
            sections[s, 1],
            sections[s, 2],
            sections[s, 3],
            sections[s, 4],
        )
        z1 = z2 = 0.0
        for i in range(len(y)):
            x = y[i]
            y[i] = b0 * x + z1
            z1 = b1 * x - a1 * y[i] + z2
            z2 = b2 * x - a2 * y[i]
    return y


case(
    biquad_cascade,
    lambda n, m: dict(signal=m(n), sections=0.4 * m(2, 5)),
    real=30,
    covers=("overwrites what was read",),
)


def continued_fraction(a, b):
    value = 0.0
    for i in range(a.shape[0] - 1, -1, -1):
        value = a[i] / (b[i] + value)
    return value


case(
    continued_fraction,
    lambda n, m: dict(a=m.positive(n), b=m.positive(n)),
    real=17,
    covers=("negative step",),
)


def clenshaw_chebyshev(c, x):
    b1 = 0.0
    b2 = 0.0
    for k in range(c.shape[0] - 1, 0, -1):
        b1, b2 = 2.0 * x * b1 - b2 + c[k], b1
    return x * b1 - b2 + c[0]


case(
    clenshaw_chebyshev,
    lambda n, m: dict(c=m(n), x=m.scalar(-0.8, 0.8)),
    least=1,
    real=17,
    covers=("negative step",),
)


def legendre_table(x, degree):
    p = np.zeros((degree + 1, x.shape[0]))
    for i in range(x.shape[0]):
        p[0, i] = 1.0
        if degree > 0:
            p[1, i] = x[i]
        for k in range(2, degree + 1):
            p[k, i] = ((2 * k - 1) * x[i] * p[k - 1, i] - (k - 1) * p[k - 2, i]) / k
    return p


case(legendre_table, lambda n, m: dict(x=m(n), degree=5), real=17)


def de_casteljau(points, t):
    work = points.copy()
    n = work.shape[0]
    for level in range(1, n):
        for i in range(n - level):
            for d in range(work.shape[1]):
                work[i, d] = (1.0 - t) * work[i, d] + t * work[i + 1, d]
    return work[0, 0], work[0, 1]


case(
    de_casteljau,
    lambda n, m: dict(points=m(n, 2), t=m.scalar(0.2, 0.8)),
    least=1,
    real=10,
    covers=("overwrites what was read",),
)


def prefix_products_both_ways(x, out):
    n = x.shape[0]
    left = 1.0
    for i in range(n):
        out[i] = left
        left *= x[i]
    right = 1.0
    for i in reversed(range(n)):
        out[i] *= right
        right *= x[i]


case(prefix_products_both_ways, lambda n, m: dict(x=m.positive(n), out=m(n)), "out")


def blelloch_scan(a):
    n = a.shape[0]
    step = 1
    while step < n:
        for i in range(2 * step - 1, n, 2 * step):
            a[i] += a[i - step]
        step *= 2
    step //= 2
    while step > 0:
        for i in range(3 * step - 1, n, 2 * step):
            a[i] = a[i] + 0.5 * a[i - step] * a[i]
        step //= 2


case(
    blelloch_scan,
    lambda n, m: dict(a=m(n)),
    "a",
    wide=(8,),
    real=33,
    covers=("in-place recurrence",),
)


def fibonacci_with_counts(counts, p0, q0, out):
    for i in range(counts.shape[0]):
        p = p0
        q = q0
        for _ in range(counts[i]):
            p, q = q, p + q
        out[i] = p * q


case(
    fibonacci_with_counts,
    lambda n, m: dict(counts=m.indices(6, n), p0=m.scalar(), q0=m.scalar(), out=m(n)),
    "out",
    catalogue=(82,),
    covers=("bounds from data",),
)


# --------------------------------------------- iterations that share local arrays


def triangular_terms(a, low, x):
    d = x.shape[1]
    terms = np.zeros(low.shape[0])
    loss = 0.0
    for p in range(x.shape[0]):
        for k in range(low.shape[0]):
            term = a[k]
            for r in range(d):
                y = math.exp(low[k, r]) * x[p, r]
                for q in range(r):
                    at = d + q * d - q * (q + 1) // 2 + r - q - 1
                    y += low[k, at] * (x[p, q] - a[k])
                term -= 0.5 * y * y
            terms[k] = term
        top = terms[0]
        for k in range(low.shape[0]):
            top = max(top, terms[k])
        total = 0.0
        for k in range(low.shape[0]):
            total += math.exp(terms[k] - top)
        loss += top + math.log(total)
    top = a[0]
    for k in range(low.shape[0]):
        top = max(top, a[k])
    total = 0.0
    for k in range(low.shape[0]):
        total += math.exp(a[k] - top)
    return loss - x.shape[0] * (top + math.log(total))


case(
    triangular_terms,
    lambda n, m: dict(a=m(3), low=0.3 * m(3, 6), x=m(n, 3)),
    real=9,
)


def barrier_paths(z, start, rate, barrier, out):
    for path in range(z.shape[1]):
        s = start
        worst = start
        for t in range(z.shape[0]):
            s = s * math.exp(rate * z[t, path])
            worst = min(worst, s)
        if worst > barrier:
            out[path] += s * s
        else:
            out[path] += 0.25 * s


case(
    barrier_paths,
    lambda n, m: dict(
        z=m(4, n), start=m.scalar(), rate=m.scalar(0.1, 0.4), barrier=0.7, out=m(n)
    ),
    "out",
    real=9,
)


def damped_with_own_rows(x, w, y):
    own = np.zeros(w.shape[0])
    for i in range(x.shape[0]):
        for j in range(w.shape[0]):
            own[j] = w[j] * x[i, j % x.shape[1]]
        for j in range(1, w.shape[0]):
            own[j] = own[j] + 0.5 * own[j - 1] * own[j]
        carry = 0.0
        for j in range(w.shape[0]):
            carry = 0.5 * carry + own[j] * x[i, 0]
            y[i] += carry


case(
    damped_with_own_rows,
    lambda n, m: dict(x=m(n, 2), w=m(4), y=m(n)),
    "y",
    real=9,
)


def kept_between_points(x, w):
    # Not filled at every point: what the last one left is read.
    seen = np.zeros(w.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i % 2, w.shape[0]):
            seen[j] = w[j] * x[i]
        for j in range(w.shape[0]):
            total += seen[j] * seen[j]
    return total


case(kept_between_points, lambda n, m: dict(x=m(n), w=m(4)), real=9)


def filled_under_a_test(x, w):
    seen = np.zeros(w.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            for j in range(w.shape[0]):
                seen[j] = w[j] * x[i]
        for j in range(w.shape[0]):
            total += seen[j] * seen[j] * x[i]
    return total


case(filled_under_a_test, lambda n, m: dict(x=m.away(n), w=m(4)), real=9)


def read_after_the_loop(x, w):
    last = np.zeros(w.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(w.shape[0]):
            last[j] = w[j] * x[i]
        for j in range(w.shape[0]):
            total += last[j] * last[j]
    return total + last[0] * last[1]


case(read_after_the_loop, lambda n, m: dict(x=m(n), w=m(4)), real=9)


def a_recurrence_beside_a_sum(x, b, s):
    for t in range(3):
        for i in range(x.shape[0]):
            s = -0.75 + s / (1.5 + 0.3 * x[i])
            b[t] += min(s, 0.5) * x[i]


case(
    a_recurrence_beside_a_sum,
    lambda n, m: dict(x=m.positive(n), b=m(3), s=m.scalar()),
    "b",
    real=9,
)


def own_start_values(x, w, y):
    for i in range(x.shape[0]):
        t = np.full(w.shape[0], x[i])
        s = 0.0
        for j in range(w.shape[0]):
            s = 0.5 * s + w[j] * t[j]
            t[j] = t[j] * s
        for j in range(w.shape[0]):
            y[i] += t[j] * s


case(own_start_values, lambda n, m: dict(x=m(n), w=m(4), y=m(n)), "y", real=9)


def exchanged_every_time(x, w, y):
    a = np.zeros(w.shape[0])
    b = np.zeros(w.shape[0])
    for i in range(x.shape[0]):
        for j in range(w.shape[0]):
            a[j] = w[j] * x[i]
        for j in range(w.shape[0]):
            y[i] += a[j] * b[j] + a[j]
        a, b = b, a


case(exchanged_every_time, lambda n, m: dict(x=m(n), w=m(4), y=m(n)), "y", real=9)


def filled_but_the_first_time(x, w, y):
    t = np.zeros(w.shape[0])
    for i in range(x.shape[0]):
        if i > 0:
            for j in range(w.shape[0]):
                t[j] = w[j] * x[i]
        for j in range(w.shape[0]):
            y[i] += t[j] * t[j] + t[-1]


case(
    filled_but_the_first_time,
    lambda n, m: dict(x=m(n), w=m(4), y=m(n)),
    "y",
    least=1,
    real=9,
)


def sums_beside_a_recurrence(x, w, y):
    total = 0.0
    t = np.zeros(w.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        c = 1.0
        for j in range(w.shape[0]):
            c = c * 0.9
            s = s * w[j] * x[i] + c + x[i]
            t[j] = s * c
            total += 0.1 * s
        if x[i] > 0.0:
            y[i] += t[0] * s
            total += t[w.shape[0] - 1]
        else:
            y[i] -= s
    y[0] += total * total


case(
    sums_beside_a_recurrence,
    lambda n, m: dict(x=m.away(n), w=m(4), y=m(n)),
    "y",
    least=1,
    real=9,
)


def weighted_prefix_sums(x, w, out):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
            out[i, j] = s * s


case(
    weighted_prefix_sums,
    lambda n, m: dict(x=m(n, 4), w=m(4), out=m(n, 4)),
    "out",
    real=12,
)
