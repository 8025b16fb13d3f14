"""What each pass over loops does, with an example that the tests run.

A loop over `prange` carries a proof that its iterations may run in any order.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.analysis.poly import known_numbers
from pyrev.driver.setting import Setting
from pyrev.driver.sizes import specialise, with_known_shapes
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, concrete
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import Program
from pyrev.schedule.distribute import schedule_readable
from pyrev.schedule.gpu_form import Device
from pyrev.schedule.layout import turned
from pyrev.schedule.ownership import schedule_cpu
from pyrev.schedule.rows import rows
from pyrev.schedule.rows.contract import contracted
from pyrev.schedule.rows.first_writes import set_first
from pyrev.schedule.rows.fuse_prefix import found_once
from pyrev.schedule.rows.interleaved import with_own_rows
from pyrev.schedule.rows.overlap import overlapped
from pyrev.schedule.tiles import tiled

#: What makes a number of Python's own of an element of an array.
_OWN = {WEAK_FLOAT: "float", WEAK_INT: "int"}


def specialisation(program: Program, setting: Setting) -> Program:
    """Specialisation: extents that bound loops become numbers, or one name each.

    Sizes: x[6000, 3], y[6000].

    Before::

        def f(x, y):
            for i in range(x.shape[0]):
                for k in range(x.shape[1]):
                    y[i] += x[i, k]
            for i in range(y.shape[0]):
                y[i] *= 2.0

    After::

        def f(x, y):
            for i in range(x.shape[0]):
                for k in range(3):
                    y[i] += x[i, k]
            for i in range(x.shape[0]):
                y[i] *= 2.0

    Law: The same bits, for arguments of which the tests of sizes that were asked here
    have the same answers: an extent is replaced by what it equals. A call with other
    answers gets another schedule.
    Not handled: extents that bound no loop and no array that is made; large ones that
    equal no earlier one; the values of scalars. Where all arrays are small nothing is
    replaced, since one compilation for all sizes is worth more.
    """
    setting.facts = setting.sizes.facts(program)
    return specialise(program, setting.facts) if setting.facts else program


def first_writes(program: Program, setting: Setting) -> Program:
    """Store for increment: what is zero until it is added to once is set instead.

    Sizes: g[5], x[5].

    Before::

        def f(g, x):
            d_x = np.zeros(x.shape)
            for i in range(x.shape[0]):
                d_x[i] += g[i] * x[i]
            return d_x

    After::

        def f(g, x):
            d_x = np.empty(x.shape)
            for i in range(x.shape[0]):
                d_x[i] = 0.0 + g[i] * x[i]
            return d_x

    Law: The same bits: the nest meets each element exactly once, and the zero that is
    still added makes 0.0 of -0.0.
    Not handled: elements that are met twice or under a condition, and nests that leave
    some out; zeros to which a later loop adds, too, for as increments both may come to
    be in one loop.
    """
    return replace(program, body=set_first(program.body, alone=True))


def data_layout(program: Program, setting: Setting) -> Program:
    """Data layout transformation: what goes with one place gets to be contiguous.

    Sizes: at[13000], table[3, 1400], out[3].

    Before::

        def f(at, table, out):
            for i in range(at.shape[0]):
                k = int(at[i]) % table.shape[1]
                for c in range(3):
                    out[c] += table[c, k]

    After::

        def f(at, table, out):
            table_turned = np.empty((table.shape[1], table.shape[0]), dtype=table.dtype)
            for axis1 in range(table.shape[1]):
                for axis0 in range(table.shape[0]):
                    table_turned[axis1, axis0] = table[axis0, axis1]
            for i in range(at.shape[0]):
                k = int(at[i]) % table.shape[1]
                for c in range(3):
                    out[c] += table_turned[k, c]

    Law: The same bits: each element has one place in either layout, and no statement
    changes its turn.
    Not handled: places that are counted by a loop, where neighbours are used anyway;
    arrays that the nest copies or returns whole; a caller's array that the nest writes,
    for what it holds when an error ends the nest is defined; layouts that are worth it
    only for several nests together.
    """
    return turned(program, setting.names(program), setting.sizes, setting.costs.cpu)


def gathers(program: Program, setting: Setting) -> Program:
    """Loop distribution, and scatters turned into gathers: a loop over what is written.

    Sizes: g[7], a[9], k[3], d_a[9], d_k[3].

    Before::

        def f(g, a, k, d_a, d_k):
            for x in reversed(range(g.shape[0])):
                for r in reversed(range(k.shape[0])):
                    d_a[x + r] += g[x] * k[r]
                    d_k[r] += g[x] * a[x + r]

    After::

        def f(g, a, k, d_a, d_k):
            for u in prange(g.shape[0] + k.shape[0] - 1):  # gather: u = x + r
                for r in range(max(0, u - g.shape[0] + 1), min(k.shape[0], u + 1)):
                    d_a[u] += g[u - r] * k[r]
            for r in prange(k.shape[0]):
                for x in range(g.shape[0]):
                    d_k[r] += g[x] * a[x + r]

    Law: The same terms are added to each element, in another order: they commute, all
    other dependences keep their direction, and each loop that is made is proved anew.
    Not handled: subscripts that are data or not affine, whose nest stays serial with
    the reason; a sum into one number, whose terms are added in order; scatters inside
    loops that are parallel as they stand. Nothing is tiled or copied for speed.
    """
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    block, setting.decisions = schedule_readable(
        program.body,
        setting.taken,
        live_out(program),
        lambda name: concrete(types[name]),
        setting.costs,
    )
    return replace(program, body=block)


def ownership(program: Program, setting: Setting) -> Program:
    """Parallel rows, blocks and private copies, with what is contiguous innermost.

    Sizes: g[100, 100], a[102, 100], k[3], d_a[102, 100], d_k[3].

    Before::

        def f(g, a, k, d_a, d_k):
            for y in reversed(range(100)):
                for x in reversed(range(g.shape[1])):
                    for j in reversed(range(k.shape[0])):
                        d_a[y + j, x] += g[y, x] * k[j]
                        d_k[j] += g[y, x] * a[y + j, x]

    After::

        def f(g, a, k, d_a, d_k):
            for u in prange(k.shape[0] + 99):  # row owner of d_a[y + j]
                for j in range(max(0, u - 99), min(k.shape[0], u + 1)):
                    for x in range(g.shape[1]):
                        d_a[u, x] += g[u - j, x] * k[j]
            d_k_parts = np.empty((32, d_k.shape[0]), dtype=d_k.dtype)
            for chunk in prange(32):  # private copies: 32 chunks of y, summed in order
                own_d_k = np.zeros_like(d_k)
                for y in range(100 * chunk // 32, 100 * (chunk + 1) // 32):
                    for j in range(k.shape[0]):
                        for x in range(g.shape[1]):
                            own_d_k[j] += g[y, x] * a[y + j, x]
                for k0 in range(d_k.shape[0]):
                    d_k_parts[chunk, k0] = own_d_k[k0]
            for chunk in range(32):
                for k0 in range(d_k.shape[0]):
                    d_k[k0] += d_k_parts[chunk, k0]

    Law: The same terms are added to each element, in another order: they commute. The
    number of chunks is fixed, so the order does not depend on the number of threads.
    Not handled: nests with too little work for several cores, which stay serial;
    iterations that depend on each other in more than what they add to. A target whose
    rows are not understood is copied however large it is.
    """
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    block, setting.decisions = schedule_cpu(
        program.body,
        setting.taken,
        live_out(program),
        lambda name: concrete(types[name]),
        setting.sizes,
        setting.costs,
        lambda name: _OWN.get(types[name], ""),
    )
    return replace(program, body=block)


def threads(program: Program, setting: Setting) -> Program:
    """Distribution and gathers for a GPU: a thread for each element that is written.

    Sizes: g[6, 7], k[3], d_a[6, 9], d_k[3].

    Before::

        def f(g, k, d_a, d_k):
            for y in reversed(range(g.shape[0])):
                for x in reversed(range(g.shape[1])):
                    for r in reversed(range(k.shape[0])):
                        d_a[y, x + r] += g[y, x] * k[r]
                        d_k[r] += g[y, x]

    After::

        def f(g, k, d_a, d_k):
            for y in prange(g.shape[0]):
                for u in prange(g.shape[1] + k.shape[0] - 1):  # gather: u = x + r
                    for r in range(max(0, u - g.shape[1] + 1), min(k.shape[0], u + 1)):
                        d_a[y, u] += g[y, u - r] * k[r]
            for r in prange(k.shape[0]):
                for y in range(g.shape[0]):
                    for x in range(g.shape[1]):
                        d_k[r] += g[y, x]

    Law: The same terms are added to each element, in another order: they commute, and
    each loop that is made is proved anew.
    Not handled: a scatter stays one nest, to be added up atomically, where its
    subscript is data, or where to take its terms elsewhere would take an array. Which
    loops make up a launch, and how sums are shared out, is planned behind the passes,
    by sizes.
    """
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    device = Device(setting.taken, program, types, setting.deterministic, setting.costs)
    block = device.block(program.body, (), live_out(program))
    return replace(program, body=block)


def known_shapes(program: Program, setting: Setting) -> Program:
    """Copy propagation of extents: those of local arrays are what they were made of.

    Sizes: x[5, 3].

    Before::

        def f(x):
            t = np.zeros(x.shape[1])
            for i in range(x.shape[0]):
                for k in range(t.shape[0]):
                    t[k] += x[i, k]
            return t

    After::

        def f(x):
            t = np.zeros(x.shape[1])
            for i in range(x.shape[0]):
                for k in range(x.shape[1]):
                    t[k] += x[i, k]
            return t

    Law: The same bits: the array is made once, and the extent of an argument never
    changes.
    Not handled: arrays that are made twice, that grow or that are copies of others;
    extents that are sums or products, or a scalar.
    """
    return with_known_shapes(program)


def interleaved_rows(program: Program, setting: Setting) -> Program:
    """Sums of elements that lie some apart made side by side, and put there at last.

    Sizes: w[8], y[8, 40], x[83].

    Before::

        def f(w, y, x):
            for k in range(8):
                for i in range(3):
                    for b in range(y.shape[1]):
                        x[2 * b + i] += y[k, b] * w[k]

    After::

        def f(w, y, x):
            x_rows = np.zeros((3, y.shape[1]))
            for k in range(8):
                for i in range(3):
                    for b in range(y.shape[1]):
                        x_rows[i, b] += y[k, b] * w[k]
            for i in range(3):  # x_rows: sums of elements that are 2 apart
                for b in range(y.shape[1]):
                    x[2 * b + i] += x_rows[i, b]

    Law: The same terms are added to each element, in another order, that does not
    depend on the number of threads.
    Not handled: several increments in one nest; bounds that depend on loops of the
    nest; elements that only axes before the last tell apart; long rows.
    """
    return with_own_rows(
        program,
        setting.types(program),
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
    )


def inner_loops(program: Program, setting: Setting) -> Program:
    """Inner loops fused, their increments joined, their clamps and tests peeled off.

    Sizes: x[20], y[20], z[20].

    Before::

        def f(x, y, z):
            for i in range(y.shape[0]):
                y[i] += x[min(i + 1, y.shape[0] - 1)]
            for i in range(y.shape[0]):
                y[i] += z[i]

    After::

        def f(x, y, z):
            for i in range(y.shape[0] - 1):
                y[i] = y[i] + x[i + 1] + z[i]
            for i in range(max(0, y.shape[0] - 1), y.shape[0]):  # the last i
                y[i] = y[i] + x[min(i + 1, y.shape[0] - 1)] + z[i]

    Law: The same bits: each element gets the same terms, one after the other in the
    same order, and each sum is rounded to the type of the element as before.
    Not handled: loops over different ranges, or of which one needs of the other what
    another iteration makes; tests that act in the midst of a loop; terms of another
    type than the element; loops of so many statements that they are not worth three
    copies.
    """
    return rows(program, setting.types(program), setting.costs.cpu)


def register_tiles(program: Program, setting: Setting) -> Program:
    """Unroll-and-jam: several iterations of an outer loop share what a row loads.

    Sizes: x[20], z[20], w[8], a[27].

    Before::

        def f(x, z, w, a):
            for y in range(8):
                for k in range(x.shape[0]):
                    a[y + k] += x[k] * z[k] * w[y]

    After::

        def f(x, z, w, a):
            for y in range(0, 8, 2):  # 2 of y at a time
                if 0 < x.shape[0]:
                    w_at = w[y]
                    w_at_2 = w[y + 1]
                    for k in range(x.shape[0]):
                        x_at = x[k]
                        z_at = z[k]
                        sum_a = a[y + k] + x_at * z_at * w_at
                        sum_a_2 = a[y + k + 1] + x_at * z_at * w_at_2
                        a[y + k] = sum_a
                        a[y + k + 1] = sum_a_2

    Law: The same terms are added to each element, in another order where iterations of
    one tile meet in it: they commute. The order does not depend on the number of
    threads.
    Not handled: loops that run backwards or by steps; bounds and tests that depend on
    the loop; short rows; parallel loops of which the tiles would leave cores idle;
    iterations that meet in more than what they add to.
    """
    body = tiled(
        program.body,
        live_out(program),
        known_numbers(program.body),
        setting.types(program),
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
    )
    return replace(program, body=body)


def contraction(program: Program, setting: Setting) -> Program:
    """Array contraction: an array of which iterations use a row each is made that row.

    Sizes: x[3, 300], y[3, 300].

    Before::

        def f(x, y):
            t = np.empty(x.shape)
            for i in prange(x.shape[0]):
                for k in range(x.shape[1]):
                    t[i, k] = x[i, k] * x[i, k]
                for k in range(1, x.shape[1]):
                    y[i, k] += t[i, k] * t[i, k - 1]

    After::

        def f(x, y):
            for i in prange(x.shape[0]):
                t_row = np.empty(x.shape[1])
                for k in range(x.shape[1]):
                    t_row[k] = x[i, k] * x[i, k]
                for k in range(1, x.shape[1]):
                    y[i, k] += t_row[k] * t_row[k - 1]

    Law: The same bits in all that is left: no other statement mentions the array, and
    no iteration another one's row.
    Not handled: arrays that two loops use, or that are returned or asked for by name;
    loops without a proof; rows too short to be worth their memory in each iteration, or
    too long for a cache; any but the first axis.
    """
    return contracted(
        program,
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
        setting.store,
    )


def overlapped_blocks(program: Program, setting: Setting) -> Program:
    """Overlapped tiling: rows are made where a block reads them, the last few kept.

    Sizes: x[520, 512], y[520, 512].

    Before::

        def f(x, y):
            t = np.empty(x.shape)
            for i in prange(x.shape[0]):
                for k in range(x.shape[1]):
                    t[i, k] = x[i, k] * x[i, k]
            for i in prange(y.shape[0]):
                for k in range(x.shape[1]):
                    y[i, k] = t[i, k]
                    y[i, k] -= t[max(i - 1, 0), k]

    After::

        def f(x, y):
            for block in prange((y.shape[0] + 31) // 32):
                t_rows = np.empty((2, x.shape[1]))
                # t_rows: the last 2 rows
                for i_2 in range(block * 32 - 1, min(block * 32 + 32, y.shape[0])):
                    if i_2 >= 0 and i_2 < x.shape[0]:
                        for k in range(x.shape[1]):
                            t_rows[i_2 % 2, k] = x[i_2, k] * x[i_2, k]
                    if i_2 >= block * 32:
                        for k in range(x.shape[1]):
                            y[i_2, k] = t_rows[i_2 % 2, k]
                            y[i_2, k] -= t_rows[max(i_2 - 1, 0) % 2, k]

    Law: The same bits in all that is left: a row that two blocks make is made twice of
    the same values, which neither loop writes.
    Not handled: arrays that begin with zeros, that a third loop mentions, or that are
    returned or asked for by name; rows that data number, or that are far from the row
    that reads them; chains of three loops as one.
    """
    return overlapped(
        program,
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
        setting.store,
        setting.sizes.ask,
    )


def prefix_fusion(program: Program, setting: Setting) -> Program:
    """Fusion for reuse: short loops that begin alike become one, and begin once.

    Sizes: w[8], x[8], out[5], d_w[8].

    Before::

        def f(w, x, out, d_w):
            for i in range(out.shape[0]):
                total = 0.0
                for t in range(8):
                    c = x[t] * out[i]
                    total += w[t] * c
                for t in range(8):
                    c = x[t] * out[i]
                    d_w[t] += c
                out[i] = total

    After::

        def f(w, x, out, d_w):
            for i in range(out.shape[0]):
                total = 0.0
                for t in range(8):
                    c = x[t] * out[i]
                    total += w[t] * c
                    d_w[t] += c
                out[i] = total

    Law: The same bits: neither loop writes what the other mentions, nor do they write
    what both begin with, so each element gets its terms in the same order.
    Not handled: loops whose number of iterations is not a small constant; parallel
    loops; what is alike in two loops but does not stand at the start of both.
    """
    most = setting.costs.refound_iterations
    return replace(program, body=found_once(program.body, most))
