"""Functions that a target has none of: each is plain arithmetic, in one text for all.

A generated module that needs one holds its text, so that it runs without pyrev; the
kernels hold what `emit.special_c` makes of it. All compute in float64, also of a
float32, and give a float.
Beside values of many digits (tests/ir/test_special.py) they are exact to four units in
the last place; near a zero, to as many units of what cancels there. Where it is less is
said there. Poles and infinities are those of SciPy's functions if nothing is said.

Sources: recurrences, reflections and expansions are those of NIST's Digital Library of
Mathematical Functions, sections 5.5, 5.11 and 5.15 (gamma), 10.17
(Bessel) and 25.11 (Hurwitz' zeta). Polynomials of many digits interpolate at
Chebyshev's nodes what mpmath computed, of erfc as in Shepherd and Laframboise,
Math. Comp. 36 (1981).
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def special_lgamma(x):  # type: ignore[no-untyped-def]
    """log(abs(gamma(x))): infinite at poles and where it overflows, and so at -inf."""
    x = np.float64(x)
    pole = x <= 0.0 and x == np.floor(x)
    large = x > 2.5563481638716905e305
    return np.inf if pole or large else math.lgamma(x)


def special_digamma(x):  # type: ignore[no-untyped-def]
    """The derivative of log(gamma(x)): by reflection, recurrence and expansion."""
    x = np.float64(x)
    above = x if x > 0.0 else 1.0 - x
    k = 0.0
    while above + k < 10.0:
        k = k + 1.0
    y = above + k
    w = 1.0 / (y * y)
    p = (691.0 / 32760.0 - w / 12.0) * w - 1.0 / 132.0
    p = ((p * w + 1.0 / 240.0) * w - 1.0 / 252.0) * w + 1.0 / 120.0
    p = (p * w - 1.0 / 12.0) * w
    found = np.log(y) - 0.5 / y + p
    while k > 0.0:
        k = k - 1.0
        found = found - 1.0 / (above + k)
    if x == 0.0:
        found = -np.copysign(np.inf, x)
    elif x < 0.0 and x == np.floor(x):
        found = np.nan
    elif x < 0.0:
        found = found - np.pi / np.tan(np.pi * (x - np.rint(x)))
    return float(found)


def special_zeta(s, x):  # type: ignore[no-untyped-def]
    """The sum of (x + k) ** -s over k >= 0, for x > 0 and s > 1: Euler-Maclaurin."""
    k = 0.0
    while x + k < s + 10.0:
        k = k + 1.0
    y = x + k
    w = 1.0 / (y * y)
    p = (s + 13.0) * (s + 14.0) * w * (-3617.0 / 10670622842880000.0)
    p = (s + 11.0) * (s + 12.0) * w * (1.0 / 74724249600.0 + p)
    p = (s + 9.0) * (s + 10.0) * w * (-691.0 / 1307674368000.0 + p)
    p = (s + 7.0) * (s + 8.0) * w * (1.0 / 47900160.0 + p)
    p = (s + 5.0) * (s + 6.0) * w * (-1.0 / 1209600.0 + p)
    p = (s + 3.0) * (s + 4.0) * w * (1.0 / 30240.0 + p)
    p = (s + 1.0) * (s + 2.0) * w * (-1.0 / 720.0 + p)
    p = s * (1.0 / 12.0 + p)
    power = y**-s
    total = y ** (1.0 - s) / (s - 1.0) + power * (0.5 + p / y)
    while k > 0.0:
        k = k - 1.0
        total = total + (x + k) ** -s
    return total


def special_polygamma(n, x):  # type: ignore[no-untyped-def]
    """Derivative `n` of digamma, for n from 1 to 20 and those of its derivatives."""
    x = np.float64(x)
    s = n + 1.0
    factor = -1.0
    k = 0.0
    while k < n:
        k = k + 1.0
        factor = -factor * k
    if x > 0.0:
        total = special_zeta(s, x)
    elif x == np.floor(x):
        total = np.inf
    else:
        d = x - np.rint(x)
        other = special_zeta(s, 1.0 - d) - special_zeta(s, 1.0 - x)
        total = d**-s + special_zeta(s, 1.0 + d)
        total = total - other if factor < 0.0 else total + other
    return float(factor * total)


def special_erfcx(y):  # type: ignore[no-untyped-def]
    """(1 + 2 y) exp(y ** 2) erfc(y), which is between 1 and 1.3, for y >= 0."""
    t = 1.0 - 7.5 / (y + 3.75)
    p = -3.7980647235900285e-11
    p = (p * t + 4.2433038251096756e-10) * t + 5.485084520083625e-10
    p = (p * t - 5.169080644815932e-09) * t - 4.396921916762906e-09
    p = (p * t + 3.866242066283792e-08) * t + 2.4301839484503084e-08
    p = (p * t - 2.586489910718322e-07) * t - 5.827501862768691e-08
    p = (p * t + 1.7516189406943677e-06) * t - 9.728413451815077e-07
    p = (p * t - 1.1444134389658475e-05) * t + 2.238390827660038e-05
    p = (p * t + 5.1649093885821704e-05) * t - 0.0002901539781378384
    p = (p * t + 0.0002937136669846131) * t + 0.0017556258321915355
    p = (p * t - 0.009746579558275152) * t + 0.02836227742154398
    p = (p * t - 0.05869339858961116) * t + 0.09230432116019638
    p = (p * t - 0.10880393014175023) * t + 0.08227673849015109
    p = (p * t + 0.0035854154854644583) * t - 0.14024059858554702
    p = p * t + 1.2375126308378275
    return p


def special_log_ndtr(x):  # type: ignore[no-untyped-def]
    """The logarithm of the normal distribution.

    Far above zero, where it is about -erfc(x / 2 ** 0.5) / 2, one rounding of `x` is as
    many as x ** 2 / 2 units.
    """
    x = np.float64(x)
    y = -0.7071067811865476 * x
    if x > -1.0:
        found = np.log1p(-0.5 * math.erfc(-y))
    else:
        found = np.log(special_erfcx(y) / (2.0 + 4.0 * y)) - 0.5 * x * x
    return float(found)


def special_inverse_mills(x):  # type: ignore[no-untyped-def]
    """The density of the normal distribution over the distribution.

    Far above zero one rounding of `x` is as many as x ** 2 / 2 units.
    """
    x = np.float64(x)
    y = -0.7071067811865476 * x
    if x > -1.0:
        found = 0.7978845608028654 * np.exp(-0.5 * x * x) / math.erfc(y)
    elif x > -1e9:
        found = 0.7978845608028654 * (1.0 + 2.0 * y) / special_erfcx(y)
    else:
        found = -x  # to the last place; the other may overflow
    return float(found)


def special_j0(x):  # type: ignore[no-untyped-def]
    """Bessel's function of the first kind and order 0."""
    x = np.float64(x)
    size = abs(x)
    if size < 3.0:
        z = x * x
        p = 1.3729522508415598e-22
        p = (p * z - 7.216248702389491e-20) * z + 2.896591365080799e-17
        p = (p * z - 9.385943682010514e-15) * z + 2.4028074375222996e-12
        p = (p * z - 4.709502793608866e-10) * z + 6.781684027711148e-08
        p = (p * z - 6.781684027777029e-06) * z + 0.0004340277777777773
        p = (p * z - 0.015625) * z + 0.25
        p = 1.0 - z * p
    elif size < 7.0:
        z = size - 5.0
        p = 1.1672087457517967e-20
        p = (p * z - 1.377218206618703e-18) * z - 4.5425324886611435e-18
        p = (p * z + 5.203784732533213e-16) * z + 1.338532944173062e-15
        p = (p * z - 1.5029524246515882e-13) * z - 2.9971137273766974e-13
        p = (p * z + 3.370938697124552e-11) * z + 4.80096335938604e-11
        p = (p * z - 5.66419870106504e-09) * z - 4.885722749090449e-09
        p = (p * z + 6.781103004733535e-07) * z + 2.1333006798866228e-07
        p = (p * z - 5.379500944288739e-05) * z + 1.120221468487285e-05
        p = (p * z + 0.002520211970241044) * z - 0.0017073875968509145
        p = (p * z - 0.05614869347450261) * z + 0.05604047189802263
        p = (p * z + 0.32757913759146523) * z - 0.1775967713143383
    else:
        w = 7.0 / size
        z = w * w
        p = -8.717630210813025e-10
        p = (p * z + 6.818856498936476e-09) * z - 2.477764000845994e-08
        p = (p * z + 5.6402669506682916e-08) * z - 9.286230488852597e-08
        p = (p * z + 1.243893448707915e-07) * z - 1.554894403886839e-07
        p = (p * z + 2.1483189081742668e-07) * z - 3.886826945004344e-07
        p = (p * z + 1.0535522217406672e-06) * z - 4.866175389170448e-06
        p = (p * z + 4.671057852236026e-05) * z - 0.0014349489795882145
        p = p * z + 1.0
        q = 1.0186076729195321e-09
        q = (q * z - 7.905266955505762e-09) * z + 2.83968620055085e-08
        q = (q * z - 6.350582351461015e-08) * z + 1.0159916301294063e-07
        q = (q * z - 1.2969170931428652e-07) * z + 1.4958821580961097e-07
        q = (q * z - 1.8242631465074627e-07) * z + 2.7781691135028047e-07
        q = (q * z - 6.040571678646457e-07) * z + 2.097912131036546e-06
        q = (q * z - 1.3512702839369907e-05) * z + 0.0002135340743394689
        q = q * z - 0.017857142857142846
        p = p * (np.cos(size) + np.sin(size)) - w * q * (np.sin(size) - np.cos(size))
        p = p * 0.5641895835477563 / np.sqrt(size)
    return float(p)


def special_j1(x):  # type: ignore[no-untyped-def]
    """Bessel's function of the first kind and order 1."""
    x = np.float64(x)
    size = abs(x)
    if size < 3.0:
        z = x * x
        p = -5.6244747636425586e-24
        p = (p * z + 3.192665822561887e-21) * z - 1.4013144207302294e-18
        p = (p * z + 5.008659361833677e-16) * z - 1.4282175567197632e-13
        p = (p * z + 3.154240079411784e-11) * z - 5.188298753822503e-09
        p = (p * z + 6.019939527911888e-07) * z - 4.541501468060544e-05
        p = (p * z + 0.0019373847544143917) * z - 0.03405537391318949
        p = p * (z - 14.681970642123893) * size
    elif size < 7.0:
        z = size - 5.0
        p = -6.588397793140235e-20
        p = (p * z - 2.3236750641903224e-19) * z + 2.741919149631118e-17
        p = (p * z + 8.174624646787253e-17) * z - 8.856518544158717e-15
        p = (p * z - 2.1416380978412686e-14) * z + 2.2544734680871767e-12
        p = (p * z + 4.195958616545724e-12) * z - 4.3822215064881356e-10
        p = (p * z - 5.761156016592701e-10) * z + 6.230618590981538e-08
        p = (p * z + 4.885722748875245e-08) * z - 6.102992704458353e-06
        p = (p * z - 1.7066405439074532e-06) * z + 0.000376565066100325
        p = (p * z - 6.721328810923795e-05) * z - 0.012601059851205253
        p = (p * z + 0.006829550387403659) * z + 0.16844608042350784
        p = (p * z - 0.11208094379604526) * z - 0.32757913759146523
    else:
        w = 7.0 / size
        z = w * w
        p = 9.255010346590617e-10
        p = (p * z - 7.242738196964555e-09) * z + 2.6337218476749073e-08
        p = (p * z - 6.002253935699935e-08) * z + 9.901513259963304e-08
        p = (p * z - 1.33087365630249e-07) * z + 1.6738021811931873e-07
        p = (p * z - 2.3365748706428975e-07) * z + 4.296353332796361e-07
        p = (p * z - 1.194032793686741e-06) * z + 5.7509353489410335e-06
        p = (p * z - 6.0056458155109624e-05) * z + 0.0023915816326492314
        p = p * z + 1.0
        q = -1.0791166791168774e-09
        q = (q * z + 8.378457191526846e-09) * z - 3.0115714470495215e-08
        q = (q * z + 6.741646864659998e-08) * z - 1.0803201532910537e-07
        q = (q * z + 1.38295179747439e-07) * z - 1.603133585316307e-07
        q = (q * z + 1.9717704953802968e-07) * z - 3.0431690651749336e-07
        q = (q * z + 6.751299450507309e-07) * z - 2.4206686413379607e-06
        q = (q * z + 1.6515525743114662e-05) * z - 0.00029894770407682634
        q = q * z + 0.05357142857142856
        p = p * (np.sin(size) - np.cos(size)) - w * q * (-np.sin(size) - np.cos(size))
        p = p * 0.5641895835477563 / np.sqrt(size)
    return float(p * np.copysign(1.0, x))


def special_sinc(x):  # type: ignore[no-untyped-def]
    """sin(pi * x) / (pi * x), which is 1 at zero; as NumPy has it."""
    x = np.float64(x)
    y = np.pi * x
    return 1.0 if y == 0.0 else float(np.sin(y) / y)


#: All of them, by name.
SPECIAL: dict[str, Callable[..., float]] = {
    f.__name__: f
    for f in (
        *(special_lgamma, special_digamma, special_zeta, special_polygamma),
        *(special_erfcx, special_log_ndtr, special_inverse_mills),
        *(special_j0, special_j1, special_sinc),
    )
}
