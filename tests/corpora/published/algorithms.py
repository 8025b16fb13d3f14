# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Sequences, genomes, graphs, flocks and geometry."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("algorithms")


def gotoh_alignment(similarity, gap_open, gap_extend):
    n, m = similarity.shape
    match = np.full((n + 1, m + 1), -np.inf)
    up = np.full((n + 1, m + 1), -np.inf)
    left = np.full((n + 1, m + 1), -np.inf)
    match_from = np.zeros((n + 1, m + 1), dtype=np.int8)
    match[0, 0] = 0.0
    for i in range(1, n + 1):
        up[i, 0] = -gap_open - (i - 1) * gap_extend
    for j in range(1, m + 1):
        left[0, j] = -gap_open - (j - 1) * gap_extend
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = match[i - 1, j - 1]
            came = 0
            if up[i - 1, j - 1] > best:
                best = up[i - 1, j - 1]
                came = 1
            if left[i - 1, j - 1] > best:
                best = left[i - 1, j - 1]
                came = 2
            match[i, j] = best + similarity[i - 1, j - 1]
            match_from[i, j] = came
            up[i, j] = max(match[i - 1, j] - gap_open, up[i - 1, j] - gap_extend)
            left[i, j] = max(match[i, j - 1] - gap_open, left[i, j - 1] - gap_extend)
    i, j = n, m
    scores = (match[n, m], up[n, m], left[n, m])
    layer = int(np.argmax(np.array(scores)))
    best = scores[layer]
    pairs = []
    while i > 0 and j > 0:
        if layer == 0:
            pairs.append((i - 1, j - 1))
            layer = match_from[i, j]
            i -= 1
            j -= 1
        elif layer == 1:
            if up[i, j] == match[i - 1, j] - gap_open:
                layer = 0
            i -= 1
        else:
            if left[i, j] == match[i, j - 1] - gap_open:
                layer = 0
            j -= 1
    return best, len(pairs)


case(
    gotoh_alignment,
    lambda n, m: dict(similarity=m.away(n, 5), gap_open=0.47, gap_extend=0.13),
    least=1,
    idiom="three tables with borders of -inf, pointers of 8 bits, a walk that appends",
    seen="robinanwyl/smith_waterman; librosa/librosa sequence.py (__rqa_dp)",
)


def hmm_posteriors(obs, transition, emission, initial):
    T = obs.shape[0]
    K = initial.shape[0]
    alpha = np.zeros((T, K))
    beta = np.ones((T, K))
    scale = np.zeros(T)
    for k in range(K):
        alpha[0, k] = initial[k] * emission[k, obs[0]]
        scale[0] += alpha[0, k]
    alpha[0] /= scale[0]
    for t in range(1, T):
        for k in range(K):
            for j in range(K):
                alpha[t, k] += alpha[t - 1, j] * transition[j, k]
            alpha[t, k] *= emission[k, obs[t]]
            scale[t] += alpha[t, k]
        alpha[t] /= scale[t]
    for t in range(T - 2, -1, -1):
        for k in range(K):
            acc = 0.0
            for j in range(K):
                acc += transition[k, j] * emission[j, obs[t + 1]] * beta[t + 1, j]
            beta[t, k] = acc / scale[t + 1]
    posterior = alpha * beta
    return posterior, np.log(scale).sum()


case(
    hmm_posteriors,
    lambda n, m: dict(
        obs=m.indices(4, n),
        transition=0.3 * m.positive(3, 3),
        emission=0.25 * m.positive(3, 4),
        initial=0.3 * m.positive(3),
    ),
    least=1,
    idiom="ordinary nested loops forwards and backwards, rows divided in place",
    seen="hringbauer/hapROH package/hapsburg/cfunc.pyx (fwd_bkwd_fast)",
)


def _jukes_cantor(length, rate, out):
    decay = math.exp(-4.0 * rate * length / 3.0)
    for a in range(4):
        for b in range(4):
            if a == b:
                out[a, b] = 0.25 + 0.75 * decay
            else:
                out[a, b] = 0.25 - 0.25 * decay


def pruning_log_likelihood(children, lengths, tips, frequencies, rate=1.0):
    n_tips, n_sites = tips.shape
    n_nodes = n_tips + children.shape[0]
    partial = np.ones((n_nodes, n_sites, 4))
    shift = np.zeros(n_sites)
    P = np.empty((4, 4))
    for tip in range(n_tips):
        for s in range(n_sites):
            if tips[tip, s] < 0:
                continue
            partial[tip, s, :] = 0.0
            partial[tip, s, tips[tip, s]] = 1.0
    for k in range(children.shape[0]):
        node = n_tips + k
        for child in children[k]:
            _jukes_cantor(lengths[child], rate, P)
            for s in range(n_sites):
                for a in range(4):
                    total = 0.0
                    for b in range(4):
                        total += P[a, b] * partial[child, s, b]
                    partial[node, s, a] *= total
        for s in range(n_sites):
            top = partial[node, s].max()
            if top < 1e-2:
                partial[node, s] /= top
                shift[s] += math.log(top)
    log_likelihood = 0.0
    for s in range(n_sites):
        log_likelihood += np.log(np.dot(frequencies, partial[-1, s])) + shift[s]
    return log_likelihood


def _caterpillar(n):
    children = [(0, 1)]
    for k in range(1, n - 1):
        children.append((n + k - 1, k + 1))
    return np.array(children[: max(n - 1, 0)], dtype=np.int64).reshape(-1, 2)


case(
    pruning_log_likelihood,
    lambda n, m: dict(
        children=_caterpillar(n),
        lengths=0.4 * m.positive(2 * n),
        tips=m.indices(5, n, 2) - 1,
        frequencies=0.25 * m.positive(4),
        rate=0.9,
    ),
    least=2,
    real=11,
    idiom="a helper that fills its argument, -1 as missing, a loop over a row of ints",
    seen="search: np_pruning (Felsenstein, HKY); sgkit-dev/sgkit for -1 as missing",
)


def pedigree_kinship(parent, inbreeding, allow_half_founders=False):
    n_samples, n_parents = parent.shape
    if n_parents != 2:
        raise ValueError("The parents dimension must be length 2")
    kinship = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        p, q = parent[i, 0], parent[i, 1]
        if p < 0 and q < 0:
            kinship[i, i] = 0.5 * (1.0 + inbreeding[i])
            continue
        if (p < 0 or q < 0) and not allow_half_founders:
            raise ValueError("Pedigree contains half-founders")
        for j in range(i):
            shared = 0.0
            if p >= 0:
                shared += 0.5 * kinship[p, j]
            if q >= 0:
                shared += 0.5 * kinship[q, j]
            kinship[i, j] = shared
            kinship[j, i] = shared
        if p >= 0 and q >= 0:
            kinship[i, i] = 0.5 * (1.0 + kinship[p, q])
        else:
            kinship[i, i] = 0.5 * (1.0 + inbreeding[i])
    return kinship


def _pedigree(n):
    parent = np.full((n, 2), -1)
    for i in range(4, n):
        parent[i] = (i * 3) % (i - 1), i - 2
    return parent


case(
    pedigree_kinship,
    lambda n, m: dict(parent=_pedigree(n), inbreeding=m.positive(n)),
    idiom="-1 for unknown parents, checks that raise inside the loop, continue",
    seen="sgkit-dev/sgkit sgkit/stats/pedigree_numba_fns.py",
)


def balance_contacts(x, max_iter=200, ignore_diags=0, tol=1e-6, verbose=False):
    N = len(x)
    balanced = x.copy()
    for d in range(ignore_diags):
        for j in range(0, N - d):
            balanced[j, j + d] = 0
            balanced[j + d, j] = 0
    bias = np.ones(N, np.double)
    mask = np.sum(balanced, axis=1) == 0
    converged = False
    iternum = 0
    for iternum in range(max_iter):
        s = np.sum(balanced, axis=1)
        mask = s == 0
        s = s / np.mean(s[~mask])
        s[mask] = 1
        s -= 1
        s *= 0.8
        s += 1
        bias *= s
        for i in range(N):
            for j in range(N):
                balanced[i, j] /= s[i] * s[j]
        crit = np.var(s)
        if verbose:
            print(iternum, crit)
        if tol > 0 and crit < tol:
            converged = True
            break
    corr = bias[~mask].mean()
    balanced = balanced * corr * corr
    bias /= corr
    report = (converged, iternum)
    return balanced, bias, report


case(
    balance_contacts,
    lambda n, m: dict(x=m.positive(n, n)),
    least=1,
    idiom="boolean masks, scaling in place until a variance is small, print, a report",
    seen="open2c/cooltools cooltools/lib/numutils.py (iterative_correction_symmetric)",
)


def _divergence(ac, an, i, j, out):
    n_pairs = an[i] * an[j]
    if i == j:
        n_pairs = an[i] * (an[i] - 1)
    if n_pairs == 0.0:
        return
    n_same = 0.0
    for k in range(ac.shape[1]):
        if i == j:
            n_same += ac[i, k] * (ac[i, k] - 1)
        else:
            n_same += ac[i, k] * ac[j, k]
    out[i, j] = (n_pairs - n_same) / n_pairs
    out[j, i] = out[i, j]


def hudson_fst(ac: np.ndarray, out: np.ndarray) -> None:
    out[:, :] = np.nan
    n_cohorts = ac.shape[0]
    an = ac.sum(axis=-1)
    div = np.full((n_cohorts, n_cohorts), np.nan)
    for i in range(n_cohorts):
        for j in range(i, n_cohorts):
            _divergence(ac, an, i, j, div)
    for i in range(n_cohorts):
        out[i, i] = 0.0
        for j in range(i + 1, n_cohorts):
            if div[i, j] != 0.0:
                fst = 1 - (div[i, i] + div[j, j]) / 2 / div[i, j]
                out[i, j] = fst
                out[j, i] = fst


case(
    hudson_fst,
    lambda n, m: dict(ac=5.0 * m.positive(n, 3), out=m(n, n)),
    out="out",
    idiom="the result is an argument that is first filled with nan, as of guvectorize",
    seen="sgkit-dev/sgkit sgkit/stats/popgen_numba_fns.py",
)


def heap_shortest_paths(indptr, head, weight, source):
    n_nodes = len(indptr) - 1
    dist = np.full(n_nodes, np.inf)
    pred = np.full(n_nodes, -1, dtype=np.int64)
    done = np.zeros(n_nodes, dtype=np.uint8)
    heap_key = np.empty(len(head) + 1)
    heap_node = np.empty(len(head) + 1, dtype=np.int64)
    dist[source] = 0.0
    heap_key[0] = 0.0
    heap_node[0] = source
    size = 1
    while size > 0:
        d = heap_key[0]
        u = heap_node[0]
        size -= 1
        heap_key[0] = heap_key[size]
        heap_node[0] = heap_node[size]
        i = 0
        while True:
            small = i
            for c in (2 * i + 1, 2 * i + 2):
                if c < size and heap_key[c] < heap_key[small]:
                    small = c
            if small == i:
                break
            heap_key[i], heap_key[small] = heap_key[small], heap_key[i]
            heap_node[i], heap_node[small] = heap_node[small], heap_node[i]
            i = small
        if done[u]:
            continue
        done[u] = 1
        for e in range(indptr[u], indptr[u + 1]):
            v = head[e]
            nd = d + weight[e]
            if nd < dist[v]:
                dist[v] = nd
                pred[v] = u
                heap_key[size] = nd
                heap_node[size] = v
                i = size
                size += 1
                while i > 0 and heap_key[(i - 1) // 2] > heap_key[i]:
                    up = (i - 1) // 2
                    heap_key[i], heap_key[up] = heap_key[up], heap_key[i]
                    heap_node[i], heap_node[up] = heap_node[up], heap_node[i]
                    i = up
    return dist, pred


def _ring_graph(n):
    head = []
    for u in range(n):
        head.extend([(u + 1) % n, (2 * u + 3) % n, (u * u + 5) % n])
    return np.arange(0, 3 * n + 1, 3), np.array(head, dtype=np.int64)


case(
    heap_shortest_paths,
    lambda n, m: dict(
        indptr=_ring_graph(n)[0],
        head=_ring_graph(n)[1],
        weight=m.positive(3 * n),
        source=0,
    ),
    least=1,
    idiom="a binary heap in two arrays with swaps, while True, a loop over a tuple",
    seen="find_string 57997249086 (dijkstra with parallel heap arrays under njit)",
)


def pagerank_power(indptr, indices, weights, damping=0.85, tol=1e-11, max_iter=100):
    n = len(indptr) - 1
    rank = np.full(n, 1.0 / n)
    fresh = np.zeros(n)
    iteration = 0
    err = tol + 1.0
    while err > tol and iteration < max_iter:
        fresh[:] = 0.0
        dangling = 0.0
        for u in range(n):
            start, end = indptr[u], indptr[u + 1]
            total = weights[start:end].sum()
            if start == end:
                dangling += rank[u]
                continue
            for k in range(start, end):
                fresh[indices[k]] += rank[u] * weights[k] / total
        err = 0.0
        for u in range(n):
            fresh[u] = damping * (fresh[u] + dangling / n) + (1.0 - damping) / n
            err += abs(fresh[u] - rank[u])
        rank, fresh = fresh, rank
        iteration += 1
    return rank, iteration


case(
    pagerank_power,
    lambda n, m: dict(
        indptr=np.minimum(2 * np.arange(n + 1), max(2 * n - 2, 0)),
        indices=m.indices(n, max(2 * n - 2, 0)),
        weights=m.positive(max(2 * n - 2, 0)),
        damping=0.4,
    ),
    least=1,
    idiom="compressed rows, two arrays that swap names each turn, an error to converge",
    seen="stephenhky/GraphFlow cpagerank.pyx; search: _pagerank_iter under nb.njit",
)


def _neighbours(indptr, indices, data, node):
    start, end = indptr[node], indptr[node + 1]
    return indices[start:end], data[start:end].copy()


def _is_not_in(first, second):
    absent = np.ones(first.size, dtype=np.bool_)
    j = 0
    for i in range(first.size):
        while j < second.size and second[j] < first[i]:
            j += 1
        if j == second.size:
            break
        if second[j] == first[i]:
            absent[i] = False
    return absent


def second_order_walk(indptr, indices, data, p, q, current, previous=None):
    ids, weights = _neighbours(indptr, indices, data, current)
    if previous is not None:
        other, _ = _neighbours(indptr, indices, data, previous)
        back = np.where(ids == previous)[0]
        far = _is_not_in(ids, other)
        far[back] = False
        weights[far] /= q
        weights[back] /= p
    weights = weights / weights.sum()
    return np.cumsum(weights), weights


case(
    second_order_walk,
    lambda n, m: dict(
        indptr=np.array([0, 4, 6, 9, 11, 13]),
        indices=np.array([1, 2, 3, 4, 0, 2, 0, 1, 4, 0, 4, 0, 3]),
        data=m.positive(13),
        p=0.6,
        q=1.7,
        current=0,
        previous=1 + n % 4,
    ),
    idiom="None for no previous node, masks and index arrays divided in place",
    seen="krishnanlab/PecanPy src/pecanpy/rw/sparse_rw.py",
)


def _limit(v, most):
    size = np.sqrt(v[0] * v[0] + v[1] * v[1])
    if size > most:
        v[0] *= most / size
        v[1] *= most / size


def flock_step(pos, vel, dt, near, sight, gains, most):
    n = pos.shape[0]
    steer = np.zeros((n, 2))
    for i in range(n):
        apart = np.zeros(2)
        align = np.zeros(2)
        centre = np.zeros(2)
        seen = 0
        for j in range(n):
            if i == j:
                continue
            offset = pos[i] - pos[j]
            d = np.sqrt(offset[0] ** 2 + offset[1] ** 2)
            if d < near:
                apart += offset / d**2
            if d < sight:
                align += vel[j]
                centre += pos[j]
                seen += 1
        steer[i] = gains[0] * apart
        if seen > 0:
            steer[i] += gains[1] * (align / seen - vel[i])
            steer[i] += gains[2] * (centre / seen - pos[i])
    for i in range(n):
        vel[i] += dt * steer[i]
        _limit(vel[i], most)
        for k in range(2):
            pos[i, k] += dt * vel[i, k]
            if pos[i, k] < -2.0:
                pos[i, k] += 4.0
            elif pos[i, k] >= 2.0:
                pos[i, k] -= 4.0


case(
    flock_step,
    lambda n, m: dict(
        pos=m.distinct(n, 2),
        vel=m.away(n, 2),
        dt=0.2,
        near=0.35,
        sight=1.03,
        gains=0.2 * m.positive(3),
        most=0.91,
    ),
    out="pos vel",
    real=6,
    idiom="a helper that scales a row view of its caller's array in place; wrapping",
    seen="search: boids under njit (limit_magnitude, step_boids)",
)


def rings_area_centroid(values, offsets):
    area = 0.0
    cx = 0.0
    cy = 0.0
    for ring in range(len(offsets) - 1):
        start = offsets[ring]
        stop = offsets[ring + 1]
        if stop - start < 6:
            continue
        x0 = values[stop - 2]
        y0 = values[stop - 1]
        for k in range(start, stop, 2):
            x1 = values[k]
            y1 = values[k + 1]
            if not (math.isfinite(x1) and math.isfinite(y1)):
                continue
            cross = x0 * y1 - x1 * y0
            area += 0.5 * cross
            cx += (x0 + x1) * cross / 6.0
            cy += (y0 + y1) * cross / 6.0
            x0, y0 = x1, y1
    if area == 0.0:
        return 0.0, (0.0, 0.0)
    return area, (cx / area, cy / area)


def _round(n, m):
    angle = 2.0 * np.pi * np.arange(n) / max(n, 1)
    points = np.stack((np.cos(angle), np.sin(angle)), axis=1) * (1.0 + 0.2 * m(n, 2))
    return points.reshape(-1)


case(
    rings_area_centroid,
    lambda n, m: dict(
        values=np.concatenate((_round(n, m), 0.3 * _round(2, m))),
        offsets=np.array([0, 2 * n, 2 * n + 4]),
    ),
    idiom="interleaved coordinates with offsets, strided ranges, a tuple in a tuple",
    seen="holoviz/spatialpandas geometry/_algorithms/measures.py",
)


def lines_closest_points(points1, directions1, points2, directions2, epsilon=1e-6):
    n = points1.shape[0]
    distance = np.empty(n)
    closest = np.empty((n, 2, 3))
    for i in range(n):
        d1 = directions1[i] / np.linalg.norm(directions1[i])
        d2 = directions2[i] / np.linalg.norm(directions2[i])
        diff = points1[i] - points2[i]
        a12 = -np.dot(d1, d2)
        b1 = np.dot(d1, diff)
        det = 1.0 - a12 * a12
        if abs(det) >= epsilon:
            b2 = -np.dot(d2, diff)
            t1 = (a12 * b2 - b1) / det
            t2 = (a12 * b1 - b2) / det
        else:
            t1 = -b1
            t2 = 0.0
        closest[i, 0] = points1[i] + t1 * d1
        closest[i, 1] = points2[i] + t2 * d2
        diff += t1 * d1
        diff -= t2 * d2
        distance[i] = math.sqrt(diff.dot(diff))
    return distance, closest


case(
    lines_closest_points,
    lambda n, m: dict(
        points1=m.away(n, 3),
        directions1=m.away(n, 3),
        points2=m.away(n, 3) + 1.0,
        directions2=m.away(n, 3) * np.array([1.0, -0.4, 0.2]),
    ),
    idiom="small vectors as arrays, np.dot and norms, a vector corrected in place",
    seen="AlexanderFabisch/distance3d distance3d/distance/_line.py",
)


def nearest_on_path(point, path):
    diffs = path[1:, :] - path[:-1, :]
    l2s = diffs[:, 0] ** 2 + diffs[:, 1] ** 2
    dots = np.empty((path.shape[0] - 1,))
    for i in range(dots.shape[0]):
        dots[i] = np.dot(point - path[i, :], diffs[i, :])
    t = dots / l2s
    t[t < 0.0] = 0.0
    t[t > 1.0] = 1.0
    projections = path[:-1, :] + (t * diffs.T).T
    dists = np.empty((projections.shape[0],))
    for i in range(dists.shape[0]):
        gap = point - projections[i]
        dists[i] = np.sqrt(np.sum(gap * gap))
    nearest = np.argmin(dists)
    heading = np.arctan2(diffs[nearest, 1], diffs[nearest, 0])
    return projections[nearest], dists[nearest], t[nearest], heading, nearest


case(
    nearest_on_path,
    lambda n, m: dict(
        point=np.array([0.45 * n, 2.3]),
        path=np.stack((np.arange(n), np.zeros(n)), axis=1) + 0.3 * m.away(n, 2),
    ),
    least=2,
    idiom="masks that clip, a transposed product, argmin, five results",
    seen="f1tenth/f1tenth_gym examples/waypoint_follow.py",
)


def _crossing(a, b, s, e):
    dc0, dc1 = a[0] - b[0], a[1] - b[1]
    dp0, dp1 = s[0] - e[0], s[1] - e[1]
    n1 = a[0] * b[1] - a[1] * b[0]
    n2 = s[0] * e[1] - s[1] * e[0]
    n3 = 1.0 / (dc0 * dp1 - dc1 * dp0)
    return (n1 * dp0 - n2 * dc0) * n3, (n1 * dp1 - n2 * dc1) * n3


def clipped_area(subject, window):
    kept = [(subject[i, 0], subject[i, 1]) for i in range(subject.shape[0])]
    a = window[-1]
    for b in window:
        before = kept
        kept = []
        if len(before) == 0:
            return 0.0
        s = before[-1]
        s_in = (b[0] - a[0]) * (s[1] - a[1]) - (b[1] - a[1]) * (s[0] - a[0])
        for e in before:
            e_in = (b[0] - a[0]) * (e[1] - a[1]) - (b[1] - a[1]) * (e[0] - a[0])
            if e_in > 0:
                if s_in <= 0:
                    kept.append(_crossing(a, b, s, e))
                kept.append(e)
            elif s_in > 0:
                kept.append(_crossing(a, b, s, e))
            s, s_in = e, e_in
        a = b
    area = 0.0
    for i in range(len(kept)):
        x0, y0 = kept[i - 1]
        x1, y1 = kept[i]
        area += 0.5 * (x0 * y1 - x1 * y0)
    return area


case(
    clipped_area,
    lambda n, m: dict(
        subject=_round(n, m).reshape(-1, 2),
        window=np.array([[-0.71, -0.83], [0.67, -0.62], [0.73, 0.74], [-0.58, 0.66]]),
    ),
    least=3,
    idiom="lists of points replaced in each turn, of a length that data decide",
    seen="guaix-ucm/numina numina/array/clippix.pyx",
)
