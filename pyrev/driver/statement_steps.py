"""What each pass over statements does: tests, names, and what stands where.

As in `pyrev.driver.steps`, the tests run the examples.
"""

from __future__ import annotations

from pyrev.driver.setting import Setting
from pyrev.ir.nodes import Program
from pyrev.schedule.common_tails import common_stores, common_tails
from pyrev.schedule.forward import forwarded
from pyrev.schedule.guards import shared_guards
from pyrev.schedule.plain_subscripts import plain_subscripts
from pyrev.schedule.reuse import reuse
from pyrev.schedule.same_tests import first_terms, joined_tests


def subscripts_by_index(program: Program, setting: Setting) -> Program:
    """Plain subscripts: sums and bounds of indices stand where they are used.

    Sizes: u[6], out[6].

    Before::

        def f(u, out):
            for x in range(u.shape[0]):
                q = x - 1
                if q >= 0:
                    out[x] = u[q]

    After::

        def f(u, out):
            for x in range(u.shape[0]):
                if x - 1 >= 0:
                    out[x] = u[x - 1]

    Law: The same bits: no float is computed otherwise.
    Not handled: products of indices, what data decides, scalars that one use needs by
    name, and those that neither a subscript nor a test reads.
    """
    return plain_subscripts(program, setting.types(program))


def common_values(program: Program, setting: Setting) -> Program:
    """Common subexpression elimination for dear functions in one straight line.

    Sizes: x[5], d_y[5], y[5], d_x[5].

    Before::

        def f(x, d_y, y, d_x):
            for i in range(x.shape[0]):
                y[i] = np.exp(x[i])
                d_x[i] += d_y[i] * np.exp(x[i])

    After::

        def f(x, d_y, y, d_x):
            for i in range(x.shape[0]):
                exp_x = np.exp(x[i])
                y[i] = exp_x
                d_x[i] += d_y[i] * exp_x

    Law: The same bits: the same function of the same values, none of which is written
    in between; and nothing is evaluated that was not.
    Not handled: sums and products, which cost no more than to keep them; values made of
    elements of arrays that the program writes; what stands in two branches, or in a
    loop and outside it.
    """
    return reuse(program, setting.taken)


def same_tests(program: Program, setting: Setting) -> Program:
    """Same tests: neighbours under one test stand in one branch.

    Sizes: x[5], d_x[5], d_out[5].

    Before::

        def f(x, d_x, d_out):
            for i in range(x.shape[0]):
                v = 0.0
                if x[i] > 0.0:
                    v = np.sqrt(x[i])
                d_v = 0.0
                if x[i] > 0.0:
                    d_v += d_out[i] * v
                    d_x[i] += 0.5 * d_v / v

    After::

        def f(x, d_x, d_out):
            for i in range(x.shape[0]):
                if x[i] > 0.0:
                    d_v = 0.0
                    v = np.sqrt(x[i])
                    d_v += d_out[i] * v
                    d_x[i] += 0.5 * d_v / v

    Law: The same bits: the same operations on the same values.

    Not handled: a first branch, or what stands between them, that may change what is
    tested.
    """
    return joined_tests(program, setting.users)


def common_guards(program: Program, setting: Setting) -> Program:
    """Common guards: one test for what a zero cotangent leaves undone.

    Sizes: x[5], y[5], d_out[5], d_x[5], d_y[5].

    Before::

        def f(x, y, d_out, d_x, d_y):
            for i in range(x.shape[0]):
                d_v = d_out[i] * x[i]
                d_x[i] += d_v if d_out[i] != 0.0 else 0.0
                d_y[i] -= d_v / y[i] if d_out[i] != 0.0 else 0.0

    After::

        def f(x, y, d_out, d_x, d_y):
            for i in range(x.shape[0]):
                if d_out[i] != 0.0:
                    d_v = d_out[i] * x[i]
                    d_x[i] += d_v
                    d_y[i] -= d_v / y[i]

    Law: The same bits, but for zeros; where a zero cotangent is multiplied
    by what is no finite number, zero.

    Cost: one decision for several selections, so not where code is compiled: a branch
    is no vector instruction.

    Not handled: a guard that has no other like it beside it; what others read behind
    the statements.
    """
    return shared_guards(program)


def tails(program: Program, setting: Setting) -> Program:
    """Common tails: what all branches of a test end with stands behind it.

    Sizes: x[5], y[5], d_x[5].

    Before::

        def f(x, y, d_x):
            for i in range(x.shape[0]):
                if x[i] > 0.5:
                    d_x[i] += y[i] * y[i]
                    y[i] = 0.0
                else:
                    d_x[i] += y[i]
                    y[i] = 0.0

    After::

        def f(x, y, d_x):
            for i in range(x.shape[0]):
                if x[i] > 0.5:
                    d_x[i] += y[i] * y[i]
                else:
                    d_x[i] += y[i]
                y[i] = 0.0

    Law: The same bits: the same statements run in the same order.
    Not handled: what branches begin with, which the test may read; loops.
    """
    return common_tails(program)


def stores_behind_tests(program: Program, setting: Setting) -> Program:
    """Stores behind tests: one for all branches, of the value that each chooses.

    Sizes: x[5], y[5].

    Before::

        def f(x, y):
            for i in range(x.shape[0]):
                if x[i] > 0.5:
                    y[i] = x[i] * x[i]
                else:
                    y[i] = 0.0

    After::

        def f(x, y):
            for i in range(x.shape[0]):
                if x[i] > 0.5:
                    value = x[i] * x[i]
                else:
                    value = 0.0
                y[i] = value

    Law: The same bits: each element gets the same values in the same order.
    Not handled: stores that other statements of a branch follow; increments; values of
    several dtypes that are not all floats; a test without ``else``.
    """
    return common_stores(program, setting.types(program), setting.names(program))


def sums_begun(program: Program, setting: Setting) -> Program:
    """Sums begun: a cotangent begins with its first term, not with zero.

    Sizes: x[5], d_x[5], d_out[5].

    Before::

        def f(x, d_x, d_out):
            for i in range(x.shape[0]):
                d_v = 0.0
                d_v += d_out[i] * x[i]
                d_v += d_out[0]
                d_x[i] += d_v * d_v

    After::

        def f(x, d_x, d_out):
            for i in range(x.shape[0]):
                d_v = d_out[i] * x[i]
                d_v += d_out[0]
                d_x[i] += d_v * d_v

    Law: The same bits, but for the sign of zeros.

    Not handled: a first term under a test or in a loop, and names of the user's.
    """
    return first_terms(program, setting.users, setting.types(program))


def forward_substitution(program: Program, setting: Setting) -> Program:
    """Forward substitution: a scalar that is used once stands where it is used.

    Sizes: x[5], d_y[5], d_x[5].

    Before::

        def f(x, d_y, d_x):
            for i in range(x.shape[0]):
                v = 0.5 * x[i]
                d_r = d_y[i] * v
                d_r += 0.5 * (d_y[i] * x[i])
                d_x[i] += d_r * d_r

    After::

        def f(x, d_y, d_x):
            for i in range(x.shape[0]):
                d_r = d_y[i] * (0.5 * x[i]) + 0.5 * (d_y[i] * x[i])
                d_x[i] += d_r * d_r

    Law: The same bits: the same operations on the same values. Two literals of one
    product are multiplied where one is a power of two, which rounds nothing. What has
    another name at once is called that from the start.
    Not handled: names of the user's and their adjoints, which say what a value means;
    what would make a line too long; values that an inner loop uses.
    """
    return forwarded(program, setting.users, setting.types(program))
