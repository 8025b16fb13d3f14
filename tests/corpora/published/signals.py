# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B905
"""Audio, filters and time series."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("signals")


def biquad_sections(signal, sections, state):
    out = np.empty_like(signal)
    for n in range(signal.shape[0]):
        value = signal[n]
        for s in range(sections.shape[0]):
            b0, b1, b2, a1, a2 = sections[s]
            y = b0 * value + state[s, 0]
            state[s, 0] = b1 * value - a1 * y + state[s, 1]
            state[s, 1] = b2 * value - a2 * y
            value = y
        out[n] = value
    return out


case(
    biquad_sections,
    lambda n, m: dict(signal=m(n), sections=0.4 * m(2, 5), state=m(2, 2)),
    out="state",
    idiom="a filter's state kept in an array of the caller; a row unpacked into names",
    seen="yoyololicon/torchlpc torchlpc/core.py; hpparvi/PyTransit gdmodel.py",
)


def gain_reduction(x: np.ndarray, zi: np.ndarray, attack, release, threshold, ratio):
    B, T = x.shape
    gain = np.empty_like(x)
    attacking = np.zeros(x.shape, dtype=np.bool_)
    for b in range(B):
        env = zi[b]
        for t in range(T):
            level = x[b, t]
            rising = level > env
            if rising:
                coeff = attack[b]
                attacking[b, t] = True
            else:
                coeff = release[b]
            env *= 1.0 - coeff
            env += coeff * level
            if env > threshold:
                gain[b, t] = (env / threshold) ** (1.0 / ratio - 1.0)
            else:
                gain[b, t] = 1.0
    return gain, attacking


case(
    gain_reduction,
    lambda n, m: dict(
        x=m.positive(2, n),
        zi=np.array([0.31, 0.83]),
        attack=0.6 * m.positive(2),
        release=0.15 * m.positive(2),
        threshold=0.55,
        ratio=4.0,
    ),
    idiom="a branch chooses the coefficient of a recursion; a boolean result",
    seen="yoyololicon/torchcomp torchcomp/core.py",
)


def burg_coefficients(frame, order=2):
    if order >= frame.shape[0]:
        raise ValueError("order must be below the length of the frame")
    ar = np.array([1.0])
    reflections = np.zeros(order)
    forward = frame[1:]
    backward = frame[:-1]
    error = np.mean(frame**2)
    for i in range(order):
        num = -2.0 * np.sum(forward * backward)
        den = np.sum(forward**2 + backward**2)
        k = num / den
        extended = np.append(ar, 0.0)
        ar = extended + k * extended[::-1]
        kept = forward
        forward = forward + k * backward
        backward = backward + k * kept
        forward = forward[1:]
        backward = backward[:-1]
        error *= 1.0 - k * k
        reflections[i] = k
    return ar, reflections, error


case(
    burg_coefficients,
    lambda n, m: dict(frame=m.away(n)),
    least=3,
    idiom="arrays rebound to views that shrink, and to one that grows, in each turn",
    seen="librosa/librosa librosa/core/audio.py (__lpc)",
)


def overlap_add_frames(out, frames, window, hop):
    size = frames.shape[-2]
    norm = np.zeros(out.shape[-1])
    for frame in range(frames.shape[-1]):
        start = frame * hop
        stop = min(start + size, out.shape[-1])
        out[..., start:stop] += window[: stop - start] * frames[: stop - start, frame]
        norm[start:stop] += window[: stop - start] ** 2
    filled = norm > 1e-8
    out[filled] /= norm[filled]


case(
    overlap_add_frames,
    lambda n, m: dict(out=m(3 * n + 1), frames=m(6, n), window=m.positive(6), hop=3),
    out="out",
    idiom="slices with an ellipsis added to in place, cut at the end; a mask in place",
    seen="librosa/librosa core/spectrum.py (__overlap_add), filters.py",
)


def _wing(x, table, slope, position, step, first, direction, available):
    offset = int(position)
    eta = position - offset
    total = 0.0
    for i in range(min(available, (table.shape[0] - offset) // step)):
        at = offset + i * step
        weight = table[at] + eta * slope[at]
        total += weight * x[first + direction * i]
    return total


def windowed_sinc_resample(x, t_out, table, slope, num_table, scale, y):
    step = int(scale * num_table)
    for t in range(t_out.shape[0]):
        n = int(t_out[t])
        frac = scale * (t_out[t] - n)
        y[t] += _wing(x, table, slope, frac * num_table, step, n, -1, n + 1)
        frac = scale - frac
        right = x.shape[0] - n - 1
        y[t] += _wing(x, table, slope, frac * num_table, step, n + 1, 1, right)


case(
    windowed_sinc_resample,
    lambda n, m: dict(
        x=m(n),
        t_out=0.1 + 0.6 * np.arange(n),
        table=m.positive(25),
        slope=m(25),
        num_table=8,
        scale=0.93,
        y=m(n),
    ),
    out="y",
    idiom="the whole and the fraction of a time by int(); the caller's output added to",
    seen="bmcfee/resampy resampy/interpn.py",
)


def track_beats(onset, period, tightness=1.0):
    n = len(onset)
    cumulative = np.zeros(n)
    link = np.full(n, -1, dtype=np.int64)
    for i, strength in enumerate(onset):
        best = -np.inf
        where = -1
        for j in range(i - period // 2, i - 2 * period - 1, -1):
            if j < 0:
                break
            score = cumulative[j] - tightness * math.log((i - j) / period) ** 2
            if score > best:
                best = score
                where = j
        if where >= 0:
            cumulative[i] = strength + best
        else:
            cumulative[i] = strength
        link[i] = where
    beats = []
    i = np.argmax(cumulative)
    while i >= 0:
        beats.append(i)
        i = link[i]
    return cumulative, np.array(beats[::-1])


case(
    track_beats,
    lambda n, m: dict(onset=m.positive(n), period=3),
    least=1,
    idiom="a best predecessor by comparison, then a list that a walk back appends to",
    seen="librosa/librosa librosa/beat.py (__beat_track_dp)",
)


def viterbi_states(log_prob, log_trans, log_init, floor):
    n_steps, n_states = log_prob.shape
    if log_trans.shape != (n_states, n_states):
        raise ValueError(f"transitions must be {n_states} by {n_states}")
    state = np.zeros(n_steps, dtype=np.uint16)
    value = np.zeros((n_steps, n_states), dtype=np.float64)
    ptr = np.zeros((n_steps, n_states), dtype=np.uint16)
    sources = []
    for j in range(n_states):
        possible = np.flatnonzero(log_trans[:, j] >= floor)
        if len(possible) == 0:
            raise ValueError(f"state {j} cannot be reached")
        sources.append(possible)
    value[0] = log_prob[0] + log_init
    for t in range(1, n_steps):
        for j in range(n_states):
            best = -np.inf
            for k in sources[j]:
                candidate = value[t - 1, k] + log_trans[k, j]
                if candidate > best:
                    ptr[t, j] = k
                    best = candidate
            value[t, j] = log_prob[t, j] + best
    state[-1] = np.argmax(value[-1])
    for t in range(n_steps - 2, -1, -1):
        state[t] = ptr[t + 1, state[t + 1]]
    return state, value[-1, state[-1]]


case(
    viterbi_states,
    lambda n, m: dict(
        log_prob=m.distinct(n, 3),
        log_trans=m.distinct(3, 3),
        log_init=m(3),
        floor=-0.2,
    ),
    least=1,
    idiom="a list of index arrays of different lengths; pointers in 16 bit integers",
    seen="librosa/librosa librosa/sequence.py (_viterbi)",
)


def _local_costs(a, b):
    costs = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            costs[i, j] = np.sqrt(np.sum((a[i] - b[j]) ** 2))
    return costs


def dtw_alignment(a, b, weights_add, weights_mul):
    steps = np.array([[1, 1], [0, 1], [1, 0]])
    costs = _local_costs(a, b)
    total = np.full(costs.shape, np.inf)
    chosen = np.full(costs.shape, -1, dtype=np.int32)
    total[0, 0] = costs[0, 0]
    for i in range(costs.shape[0]):
        for j in range(costs.shape[1]):
            for s, add, mul in zip(range(3), weights_add, weights_mul):
                di, dj = steps[s]
                if i - di < 0 or j - dj < 0:
                    continue
                reached = total[i - di, j - dj] + mul * costs[i, j] + add
                if reached < total[i, j]:
                    total[i, j] = reached
                    chosen[i, j] = s
    at = (costs.shape[0] - 1, costs.shape[1] - 1)
    path = [at]
    while at != (0, 0):
        s = chosen[at[0], at[1]]
        at = (at[0] - steps[s, 0], at[1] - steps[s, 1])
        path.append(at)
    path.reverse()
    mean = 0.0
    for i, j in path:
        mean += costs[i, j] / len(path)
    return total[-1, -1], mean


case(
    dtw_alignment,
    lambda n, m: dict(
        a=m(n, 2), b=m(4, 2), weights_add=0.1 * m(3), weights_mul=m.positive(3)
    ),
    least=1,
    idiom="zip over three sequences in the innermost loop; a path as a list of tuples",
    seen="librosa/librosa librosa/sequence.py (__dtw_calc_accu_cost)",
    seed=1,
)


def _line_fit(x, y):
    n = x.size
    sx = 0
    sy = 0
    sxx = 0
    sxy = 0
    for i in range(n):
        sx += x[i]
        sy += y[i]
        sxx += x[i] ** 2
        sxy += x[i] * y[i]
    slope = (n * sxy - sx * sy) / (n * sxx - sx**2)
    intercept = (sy - slope * sx) / n
    return slope, intercept


def higuchi_slope(x, kmax):
    n = x.size
    x_reg = np.empty(kmax)
    y_reg = np.empty(kmax)
    for k in range(1, kmax + 1):
        lengths = np.empty((k,))
        for start in range(k):
            length = 0
            count = int(np.floor((n - start - 1) / k))
            for j in range(1, count):
                length += abs(x[start + j * k] - x[start + (j - 1) * k])
            length /= k
            length *= (n - 1) / (k * count)
            lengths[start] = length
        mean = 0
        for start in range(k):
            mean += lengths[start]
        mean /= k
        x_reg[k - 1] = np.log(1.0 / k)
        y_reg[k - 1] = np.log(mean)
    slope, _ = _line_fit(x_reg, y_reg)
    return slope


case(
    higuchi_slope,
    lambda n, m: dict(x=m.distinct(n), kmax=4),
    least=9,
    idiom="sums that start as the integer 0; a helper of two results, one thrown away",
    seen="raphaelvallat/antropy src/antropy/fractal.py (_higuchi_fd), utils.py",
)


def _box_sizes(smallest, largest, factor):
    sizes = [smallest]
    most = int(np.floor(np.log(1.0 * largest / smallest) / np.log(factor)))
    for i in range(most + 1):
        size = int(np.floor(smallest * factor**i))
        if size > sizes[-1]:
            sizes.append(size)
    return np.array(sizes, dtype=np.int64)


def detrended_fluctuation(x):
    N = len(x)
    sizes = _box_sizes(4, 0.3 * N, 1.35)
    walk = np.cumsum(x - x.mean())
    fluctuations = np.zeros(len(sizes))
    for i, n in enumerate(sizes):
        boxes = np.reshape(walk[: N - (N % n)], (N // n, n))
        ran = np.array([float(v) for v in range(n)])
        trend = np.empty((len(boxes), ran.size))
        for b in range(len(boxes)):
            slope, intercept = _line_fit(ran, boxes[b])
            trend[b, :] = intercept + slope * ran
        squares = np.sum((boxes - trend) ** 2, axis=1) / n
        fluctuations[i] = np.sqrt(np.mean(squares))
    nonzero = np.nonzero(fluctuations)[0]
    fluctuations = fluctuations[nonzero]
    sizes = sizes[nonzero]
    if len(fluctuations) == 0:
        exponent = np.nan
    else:
        exponent, _ = _line_fit(np.log(sizes), np.log(fluctuations))
    return exponent


case(
    detrended_fluctuation,
    lambda n, m: dict(x=m(n)),
    least=20,
    real=40,
    idiom="a list comprehension, reshapes, names rebound to selections of themselves",
    seen="raphaelvallat/antropy src/antropy/fractal.py (_dfa)",
)


def stft_power(x, window, hop):
    size = len(window)
    if len(x) < size:
        x = np.concatenate((x, np.zeros(size - len(x))))
    n_frames = 1 + (len(x) - size) // hop
    n_bins = size // 2 + 1
    spectrum = np.zeros((n_frames, n_bins), dtype=np.complex128)
    for f in range(n_frames):
        for k in range(n_bins):
            acc = 0.0 + 0.0j
            for i in range(size):
                angle = -2.0 * np.pi * k * i / size
                acc += x[f * hop + i] * window[i] * np.exp(1j * angle)
            spectrum[f, k] = acc
    return spectrum.real**2 + spectrum.imag**2


case(
    stft_power,
    lambda n, m: dict(x=m(n), window=m.positive(6), hop=3),
    idiom="a complex accumulator and a complex array; a parameter rebound to be longer",
    seen="librosa/librosa core/spectrum.py; complex loops of find_string @numba.njit",
)


def _fft(values):
    n = values.shape[0]
    if n == 1:
        return values
    even = _fft(values[0::2])
    odd = _fft(values[1::2])
    out = np.empty(n, dtype=np.complex128)
    for k in range(n // 2):
        twiddle = np.exp(-2j * np.pi * k / n) * odd[k]
        out[k] = even[k] + twiddle
        out[k + n // 2] = even[k] - twiddle
    return out


def cepstrum_radix_two(frame):
    n = frame.shape[0]
    if n == 0 or n & (n - 1) != 0:
        raise ValueError("the length must be a power of two")
    spectrum = _fft(frame.astype(np.complex128))
    logs = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        logs[k] = np.log(np.abs(spectrum[k]) + 1e-3)
    return _fft(np.conj(logs)).real / n


case(
    cepstrum_radix_two,
    lambda n, m: dict(frame=m.positive(16 if n > 8 else 4)),
    idiom="a recursive transform of strided views; complex values and their modulus",
    seen="tohesala/tuna tuna/fft.py; Firkraag/algorithm fft.py",
)


@dataclass
class DelayLine:
    """What a jitclass would hold between two calls."""

    buffer: np.ndarray
    position: int


def chorus_block(line, block, depth, rate, mix=0.5):
    size = line.buffer.shape[0]
    out = np.empty_like(block)
    for i in range(len(block)):
        line.buffer[line.position] = block[i]
        read = line.position - 1.0 - depth * (1.0 + math.sin(rate * i))
        while read < 0:
            read += size
        left = int(read)
        frac = read - left
        right = (left + 1) % size
        wet = (1.0 - frac) * line.buffer[left] + frac * line.buffer[right]
        out[i] = (1.0 - mix) * block[i] + mix * wet
        line.position = (line.position + 1) % size
    return out


case(
    chorus_block,
    lambda n, m: dict(
        line=DelayLine(m(11), 4), block=m(n), depth=2.3, rate=0.71, mix=0.4
    ),
    out="line",
    idiom="an object with an array and an integer that change; indices by modulo",
    seen="dnidever/prometheus prometheus/allfit_jitclass_numba.py",
)


def yin_period(frame, tau_min, tau_max, threshold=0.2):
    width = frame.shape[0] - tau_max
    if width <= 0:
        return 0.0, 1.0
    diff = np.zeros(tau_max)
    for tau in range(1, tau_max):
        for j in range(width):
            delta = frame[j] - frame[j + tau]
            diff[tau] += delta * delta
    cmnd = np.ones(tau_max)
    running = 0.0
    for tau in range(1, tau_max):
        running += diff[tau]
        cmnd[tau] = diff[tau] * tau / running
    tau = tau_min
    found = -1
    while tau < tau_max - 1:
        if cmnd[tau] < threshold:
            while tau + 1 < tau_max - 1 and cmnd[tau + 1] < cmnd[tau]:
                tau += 1
            found = tau
            break
        tau += 1
    if found == -1:
        return 0.0, np.min(cmnd)
    left, mid, right = cmnd[found - 1], cmnd[found], cmnd[found + 1]
    curvature = left - 2.0 * mid + right
    if curvature == 0:
        return float(found), mid
    shift = 0.5 * (left - right) / curvature
    return found + shift, mid - 0.25 * (left - right) * shift


case(
    yin_period,
    lambda n, m: dict(
        frame=np.sin(2 * np.pi * np.arange(n) / 5.3) + 0.1 * m(n),
        tau_min=2,
        tau_max=8,
    ),
    least=2,
    idiom="several early returns; a search by while, while and break; a default",
    seen="xeonel2/pysnail src/pyin.pyx; hippke/tls interpolation.py",
)
