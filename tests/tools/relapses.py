"""Old bugs put back on purpose: do the tests of today notice?

    python -m tests.tools.relapses [--only CLASS ...] [--number N ...] [--list]

Each relapse is one edit of the sources, tried on a copy of them, that brings back a bug
of a class that was silent once. It is noticed if one of the tests named beside it, as
CI runs them, fails with it and passes without. The edits are kept in step with the
sources by `test_relapses.py`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT


@dataclass(frozen=True)
class Relapse:
    """`old`, which occurs once in `file`, becomes `new`; `tests` have to fail then."""

    kind: str
    bug: str
    file: str
    old: str
    new: str
    tests: str

    def applied(self, text: str) -> str:
        """The text of the file with the bug."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: not once: {self.old!r}")
        return text.replace(self.old, self.new)


TUPLE_LOOPS = "tests/parse/test_tuple_loops.py"
ALIASES = "tests/parse/test_aliases.py"
NAMES = "tests/parse/test_rebinding.py"
DISCARDED = "tests/adjoint/test_discarded.py"
INTEGERS = "tests/ir/test_rewrites.py tests/analysis/test_integers.py"
AGREEMENT = "tests/driver/test_agreement.py tests/tools/test_sequences.py"
HELD = "tests/driver/test_held.py"
SEALS = "tests/emit/test_seals.py"
RANGES = "tests/adjoint/test_ranges.py"
ERRORS = "tests/api/test_errors.py"
LOADING = "tests/emit/test_load.py"
MEMORY = "tests/runtime/test_lifetimes.py"
REJECTED = "tests/corpora/test_rejections.py"
RESIZED = "tests/parse/test_resized.py"
SELECTED = "tests/parse/test_selections.py"
ARRANGED = "tests/parse/test_arrangements.py"
STRUCTURES = "tests/parse/test_structures.py"
LISTS = "tests/parse/test_lists.py"
KNOWN = "tests/parse/test_known_values.py"

RELAPSES: list[Relapse] = [
    # ------------------------------------------------ names that change places
    Relapse(
        "names",
        "behind an `if`, what its body swapped stands for the wrong arrays",
        "pyrev/parse/statements.py",
        "    exchange_into(w, then, target, scope, around)\n",
        "    scope.bound |= target\n",
        NAMES,
    ),
    Relapse(
        "names",
        "behind an `if`, what its `else` swapped stands for the wrong arrays",
        "pyrev/parse/statements.py",
        "    exchange_into(w, other, target, scope, around)\n",
        "    scope.bound |= target\n",
        NAMES,
    ),
    Relapse(
        "names",
        "what a `for` reads of its last iteration counts as unread",
        "pyrev/parse/bindings.py",
        'return not self.binds([target]) and self.first(body) == "read"',
        "return False",
        NAMES,
    ),
    Relapse(
        "names",
        "arrays of the caller that changed places keep the other's contents",
        "pyrev/parse/restoring.py",
        "        state.back()\n",
        "        pass\n",
        NAMES,
    ),
    Relapse(
        "names",
        "an array that changed places twice is put back once more",
        "pyrev/parse/restoring.py",
        'Assign(turned, Call("-", (ONE, turned), loc=at), loc=at)',
        "Assign(turned, ONE, loc=at)",
        NAMES,
    ),
    Relapse(
        "names",
        "of two exchanges of contents one moves nothing",
        "pyrev/parse/exchanges.py",
        "    w.emit.extend(body)\n",
        "    w.emit.extend(body if len(w.aliases.exchanges) % 2 else ())\n",
        NAMES,
    ),
    Relapse(
        "names",
        "no loop reads what its last iteration left",
        "pyrev/parse/bindings.py",
        "        if self._again(node):\n            return True\n",
        "",
        NAMES,
    ),
    Relapse(
        "names",
        "elements are copied over others that are still to be read",
        "pyrev/parse/joins.py",
        "if not any(target.name in r for m, r in read.items() if m != n)",
        "if target.name",
        NAMES,
    ),
    Relapse(
        "names",
        "another name of an array that changes places is let pass",
        "pyrev/parse/exchanges.py",
        "    found = [n for n in found if around.is_live(n)]\n",
        "    found = []\n",
        REJECTED,
    ),
    Relapse(
        "names",
        "what may be the caller's array by now gets new elements",
        "pyrev/parse/binding.py",
        "    held = [a for a in scope.owned if a not in turned(w)]\n",
        "    held = list(scope.owned)\n",
        NAMES,
    ),
    Relapse(
        "names",
        "an array made in a loop changes places with the caller's",
        "pyrev/parse/restoring.py",
        "        if array in again | inner:\n",
        "        if False:\n",
        REJECTED,
    ),
    # ------------------------------------------------ arrays of helpers
    Relapse(
        "helpers",
        "dtypes that must agree are noted under names that are gone",
        "pyrev/parse/walk.py",
        "            (name(a), renamed_dtype(d, new), at) for a, d, at in"
        " self.alike_kinds\n",
        "            (a, d, at) for a, d, at in self.alike_kinds\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "a dtype of several arrays keeps the names that are gone",
        "pyrev/ir/renaming.py",
        "            Var(new.get(p.name, p.name)) if isinstance(p, Var) else p\n",
        "            Var(new.get(p.name, p.name))\n"
        "            if isinstance(p, Var) and len(dtype.parts) == 1\n"
        "            else p\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "ranks that must agree are noted under names that are gone",
        "pyrev/parse/walk.py",
        "        self.same = list(map(pair, self.same))\n",
        "",
        NAMES,
    ),
    Relapse(
        "helpers",
        "arrays that change places agree in their first axis only",
        "pyrev/parse/exchanges.py",
        "    rank = rank_of(w, first)\n    message",
        "    rank = w.known.ranks.get(first, 1)\n    message",
        NAMES,
    ),
    Relapse(
        "helpers",
        "behind a block a name no longer knows where it was bound",
        "pyrev/parse/joins.py",
        "    scope.paths |= {n: paths[n] for n in arrays if n in paths}\n",
        "",
        NAMES,
    ),
    Relapse(
        "helpers",
        "pairs of arrays that change places at once are one exchange",
        "pyrev/parse/exchanges.py",
        """    for cycle in cycles(pairs):
        if len(cycle) > 1:
            exchange_cycle(w, cycle, users, scope, around)
""",
        """    exchange_cycle(w, pairs, users, scope, around)
""",
        "tests/parse/test_rare.py",
    ),
    Relapse(
        "helpers",
        "a copy that is made again is one of what the array holds by then",
        "pyrev/schedule/storage/build.py",
        """                if kept is not None:
                    return self._copy_of(kept, stmt)
""",
        "",
        "tests/schedule/test_copied.py",
    ),
    Relapse(
        "helpers",
        "what a helper returns is read when contents went back already",
        "pyrev/parse/restoring.py",
        "        result = keep_result(w, result, moved, states, scope)\n",
        "        pass\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "a write to what a helper may have returned is let pass",
        "pyrev/parse/points_to.py",
        "        if any(is_reachable(w, a) for a in found.points_to):\n",
        "        if False:\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "the copy that a helper returns is no longer one of its arrays",
        "pyrev/parse/restoring.py",
        "    note_may_be(w, made, outer_origins(w, moved), scope, at)\n",
        "",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "what a helper returns on one path only is a copy for good",
        "pyrev/parse/paths.py",
        "            note_may_be(w, found.name, {value.base}, scope, at)\n",
        "            pass\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "what is one array in Python, and two here, may be written",
        "pyrev/parse/points_to.py",
        "    if not copy.points_to & written or is_new(w, own):\n",
        "    if True:\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "what is bound again may be no other array from then on",
        "pyrev/parse/copies.py",
        "    for one in sorted(kept) if may_be else ():\n",
        "    for one in ():\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "what the next iteration writes counts as written before",
        "pyrev/parse/points_to.py",
        "            if written == other:\n",
        "            if False:\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "an array of the caller's that is returned on a path counts as a new one",
        "pyrev/parse/copies.py",
        "        if named or foreign or len(kept) > 1:\n",
        "        if named or base not in w.storage.allocated or len(kept) > 1:\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "a copy still is the array whose storage has been given to a new one",
        "pyrev/parse/copies.py",
        "    note_reuse(w, array)\n",
        "    pass\n",
        ALIASES,
    ),
    Relapse(
        "helpers",
        "what paths return counts as known where contents have changed places",
        "pyrev/parse/restoring.py",
        "                if copy.points_to & moved:\n",
        "                if False:\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "a copy that is made equal to what it may be counts as put back",
        "pyrev/parse/copies.py",
        "        if clean:\n",
        "        if True:\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "what an array may be is not handed on to the next iteration",
        "pyrev/parse/points_to.py",
        "        for kept in sorted(w.aliases.kept_in.get(array, set()) - {array}):\n",
        "        for kept in ():\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "a parameter that is given another's value on some paths is the other",
        "pyrev/schedule/forward.py",
        "                and name not in params\n",
        "",
        "tests/schedule/test_forward.py",
    ),
    Relapse(
        "names",
        "an array is made where another is made with its size",
        "pyrev/emit/whole_arrays.py",
        " or made.array != array or ",
        " or ",
        "tests/emit/test_whole_arrays.py",
    ),
    Relapse(
        "names",
        "arrays that others know change places by their contents",
        "pyrev/parse/exchanges.py",
        "    w.found.foreign = w.found.foreign or not own\n",
        "",
        "tests/driver/test_rolled.py",
    ),
    Relapse(
        "names",
        "a copy of a part that takes its name is that part",
        "pyrev/parse/values.py",
        "            return a.view and b.view and a.object == b.object != 0\n",
        "            return a.object == b.object != 0\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "only the first of the arrays that a copy may be gets what is written to it",
        "pyrev/parse/copies.py",
        "        for test, source in possible_sources(w, due.own):\n",
        "        for test, source in possible_sources(w, due.own)[:1]:\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "a copy that is bound to another array counts as the first one",
        "pyrev/parse/copies.py",
        "Assign(selector, Const(len(before.choices)), loc=at)",
        "Assign(selector, ZERO, loc=at)",
        ALIASES,
    ),
    Relapse(
        "names",
        "what the next iteration reads by another name counts as unread",
        "pyrev/parse/binding.py",
        "scope.text.later(n, scope.current) for n in others",
        "scope.text.enclosed(n) for n in others",
        ALIASES,
    ),
    Relapse(
        "names",
        "of two arrays that changed places the result is always the first",
        "pyrev/parse/restoring.py",
        'Call("-", (ONE, turned)) if at else turned',
        "turned",
        ALIASES,
    ),
    Relapse(
        "names",
        "a new array is still the one that the copy was",
        "pyrev/parse/copies.py",
        "        w.emit.add(Assign(copy.selector, Const(-1), loc=at))\n",
        "        pass\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "a copy that is bound again keeps what was written to it before",
        "pyrev/parse/copies.py",
        "        if copy.source is not None and not is_clean(w, array):\n",
        "        if copy.source is None:\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "what one branch makes new is new behind both",
        "pyrev/parse/points_to.py",
        "        if all(way in copy.paths for way in ways):\n",
        "        if any(way in copy.paths for way in ways):\n",
        ALIASES,
    ),
    Relapse(
        "names",
        "what is written to a copy stays there when the function ends",
        "pyrev/parse/copies.py",
        "if not w.env.running or is_read(copy.points_to, running_places(w)):",
        "if False:",
        ALIASES,
    ),
    # ------------------------------------------------ what is discarded
    Relapse(
        "discarded",
        "nothing that may be discarded is guarded",
        "pyrev/adjoint/reverse.py",
        "may_be_discarded = stmt.id in self.discarded",
        "may_be_discarded = False",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "every scalar is taken for a finite number",
        "pyrev/adjoint/discarded.py",
        "            return name in known\n",
        "            return True\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "what one side of a choice uses counts as used by both",
        "pyrev/adjoint/discarded.py",
        '            yield from _both(a, b)\n        case Call("and"',
        '            yield from (*sure(a), *sure(b))\n        case Call("and"',
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "an element that data decides is read if any element is",
        "pyrev/adjoint/discarded.py",
        '(Case(TRUE_TEXT, f"e{k}"),) if x is None else x',
        "y if x is None else x",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "a run under one test goes on past what changes its cotangent",
        "pyrev/adjoint/spared.py",
        "        if written((s,)) & names(d):\n            return\n",
        "",
        "tests/schedule/test_guards.py",
    ),
    Relapse(
        "discarded",
        "what a run sets may be read behind it",
        "pyrev/schedule/guards.py",
        "guards >= SEVERAL and not own & live[at]",
        "guards >= SEVERAL",
        "tests/schedule/test_guards.py",
    ),
    Relapse(
        "discarded",
        "a test around several statements hides a second derivative",
        "pyrev/adjoint/spared.py",
        "then, ()) if _is_cotangent(",
        "then, ()) if False and _is_cotangent(",
        "tests/schedule/test_guards.py",
    ),
    Relapse(
        "discarded",
        "a value sinks past a write to what it reads",
        "pyrev/adjoint/sink.py",
        "if read & written((other,)):",
        "if False:",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "a value that is read behind a branch sinks into it",
        "pyrev/adjoint/sink.py",
        "            return None if both or name in later else at\n",
        "            return None if both else at\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "what `min` and `max` leave out is zero times a slope",
        "pyrev/adjoint/increments.py",
        "                if not self.steady(args[k]):\n",
        "                if False:\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "a loop over no numbers counts as one that runs",
        "pyrev/adjoint/discarded.py",
        "    return len(range(lo, hi, step)) > 0\n",
        "    return True\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "what fills an array is not guarded",
        "pyrev/adjoint/reverse.py",
        "self.increments.owed(stmt, stmt.fill, Load(d_name, index), True)",
        "self.increments.owed(stmt, stmt.fill, Load(d_name, index), False)",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "a read under a test of data counts as one that is made",
        "pyrev/adjoint/discarded.py",
        "        if not region.exact(leaf) or region.opaque_tests(leaf):\n",
        "        if not region.exact(leaf):\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "a read in a loop that may end early counts as one that is made",
        "pyrev/adjoint/discarded.py",
        "        if not region.exact(leaf) or region.opaque_tests(leaf):\n",
        "        if region.opaque_tests(leaf):\n",
        DISCARDED,
    ),
    Relapse(
        "names",
        "a number is read when the array that it is of has been bound again",
        "pyrev/parse/assignments.py",
        "of this one.\n            keep_later(w, values, k, emitted)",
        "of this one.\n            w.emit.extend(emitted)",
        "tests/parse/test_unpacked.py",
    ),
    # ------------------------------------------------ integers that go around
    Relapse(
        "integers",
        "a sign is pulled out of an integer that may go around",
        "pyrev/ir/simplify.py",
        '        case _, Call("neg", (x,)) if not wraps(x, types):\n',
        '        case _, Call("neg", (x,)):\n',
        INTEGERS,
    ),
    Relapse(
        "integers",
        "a factor is pulled out of an integer that may go around",
        "pyrev/ir/simplify.py",
        "            if not wraps(x, types) and not wraps(a, types):\n",
        "            if True:\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "a partial is computed in the few bits of its integer",
        "pyrev/adjoint/rules.py",
        "        values[name] = as_float(env[name], types, beside)\n",
        "        values[name] = env[name]\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "signs stay before integers of NumPy's, to be moved later",
        "pyrev/analysis/narrow_integers.py",
        "    made = _Signs(program, types).block(program.body)\n",
        "    made = program.body\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "a width that the path decides is let pass",
        "pyrev/analysis/narrow_integers.py",
        "        _Widths(replace(program, body=made), types)\n",
        "",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "bounds, sizes and tests are counted in few bits",
        "pyrev/analysis/narrow_integers.py",
        "        made = _Wide(types).block(made)\n",
        "",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "an exponent in a partial is computed in few bits",
        "pyrev/adjoint/rules.py",
        '_EXACT = PREDICATES | {"/", "//"',
        '_EXACT = PREDICATES | {"-", "*", "**", "/", "//"',
        INTEGERS,
    ),
    Relapse(
        "integers",
        "an integer of few bits beside a Python float is a float32",
        "pyrev/ir/dtypes.py",
        '    wide = promote(kind, "float32") if single else "float64"\n',
        '    wide = promote(kind, "float32")\n',
        INTEGERS,
    ),
    Relapse(
        "integers",
        "partials that are multiplied with each other are integers",
        "pyrev/adjoint/elimination.py",
        '    return found if selects(found) else as_float(found, types, env["y"])\n',
        "    return found\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "what is taken from a float is negated in few bits",
        "pyrev/analysis/narrow_integers.py",
        "                    x = as_float(self.signed(x), self.types, target)\n",
        "                    x = self.signed(x)\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "a whole factor is multiplied in the few bits of the other",
        "pyrev/ir/simplify.py",
        "    if ka is not None and wraps(b, types):\n"
        '        return Call("*", (Const(float(ka)), b))\n',
        "",
        INTEGERS,
    ),
    # ------------------------------------------------ text and function
    Relapse(
        "agreement",
        "code that was replaced in a function is not seen",
        "pyrev/parse/grounds.py",
        "                f.__code__ is not code\n                or f",
        "                f",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "defaults that were replaced are not seen",
        "pyrev/parse/grounds.py",
        "                or f.__defaults__ is not defaults\n",
        "",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "globals that were bound again are not seen",
        "pyrev/parse/grounds.py",
        "if ask(name, MISSING) is not found:",
        "if False:",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "variables of a function around that were bound again are not seen",
        "pyrev/parse/grounds.py",
        "            if _content(cell) is not found:\n                return False\n",
        "            pass\n",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "constants and functions inside a text are not compared",
        "pyrev/parse/source.py",
        "        and all(map(_equal_constants, code.co_consts, other.co_consts))\n",
        "",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "any reading of old is taken for the present one",
        "pyrev/driver/readings.py",
        "            for reading in known:\n"
        "                captured = reading.units.function.captured()\n",
        "            for reading in known:\n"
        "                captured = {c.name: c.read() for c in"
        " reading.units.function.parsed.captured}\n",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "keyword defaults that were replaced are not seen",
        "pyrev/parse/grounds.py",
        "                or f.__kwdefaults__ is not named\n",
        "",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "the names in a text are not compared",
        "pyrev/parse/source.py",
        '["co_code", "co_names", "co_varnames"',
        '["co_code", "co_varnames"',
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "a global that hides a builtin from now on is not seen",
        "pyrev/parse/grounds.py",
        "            self._name(f.__globals__, name, MISSING)\n",
        "",
        AGREEMENT,
    ),
    # ------------------------------------------------ inputs that change
    Relapse(
        "inputs",
        "a call like one before does not see that arrays overlap",
        "pyrev/api/recurring.py",
        "                if np.may_share_memory(array, row[other]):\n"
        "                    return UNUSUAL\n",
        "                pass\n",
        "tests/api/test_recurring.py",
    ),
    Relapse(
        "inputs",
        "a call like one before takes its data for that one's",
        "pyrev/api/recurring.py",
        "    if call.foreign or not (plan.look is None or plan.settled is not None):\n"
        "        return False\n",
        "",
        "tests/api/test_recurring.py",
    ),
    Relapse(
        "inputs",
        "code with the size of one kernel serves another",
        "pyrev/driver/sharing.py",
        "        if not fits(fit.relied, values):\n            return False\n",
        "",
        "tests/driver/test_sharing.py",
    ),
    Relapse(
        "inputs",
        "compiled code takes what comes back for what it reads of result=",
        "pyrev/runtime/opaque.py",
        "    if array.shape != sizes:\n",
        "    if array.size != np.prod(sizes):\n",
        "tests/api/test_array_rules.py",
    ),
    Relapse(
        "inputs",
        "what nobody reads of a rule takes the name of the counter around it",
        "pyrev/emit/python.py",
        '    names = [n for n in found if not hasattr(n, "_pyrev_discarded")]\n',
        "    names = found\n",
        "tests/api/test_array_rules.py",
    ),
    Relapse(
        "inputs",
        "large arrays all have one digest",
        "pyrev/driver/held_inputs.py",
        "        place += row.blocks\n    return total % 2**64\n",
        "        place += row.blocks\n"
        "    return total % 2**64 if array.size < 512 else 0\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "only what steers the sweep is compared when it has run",
        "pyrev/driver/held_inputs.py",
        "        for name, found in seals.items():\n",
        "        for name, found in ((n, f) for n, f in seals.items() if n in"
        " self._steering):\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "copy=True copies nothing",
        "pyrev/driver/held_inputs.py",
        "            elif hold is Hold.ANYBODY:\n"
        "                self.arrays[name] = copied(value)\n",
        "",
        HELD,
    ),
    Relapse(
        "inputs",
        "a small array is held as it is, and not watched",
        "pyrev/driver/held_inputs.py",
        "            elif unit.target.copies_inputs or not lean and"
        " self._take(value.nbytes):\n"
        "                self.arrays[name] = copied(value)\n",
        "            elif unit.target.copies_inputs or not lean and"
        " self._take(value.nbytes):\n"
        "                self.arrays[name] = value\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "an array too large for a copy is not watched",
        "pyrev/driver/held_inputs.py",
        "                watched[name] = self.arrays[name] = value.view()\n",
        "                self.arrays[name] = value.view()\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "elements that change pieces do not change the digest",
        "pyrev/driver/held_inputs.py",
        "        place += row.blocks\n",
        "        place += 0\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "of a large array a sample is compared",
        "pyrev/driver/held_inputs.py",
        "array.nbytes <= FEW else digest(array)\n",
        "array.nbytes <= FEW else digest(array[::7])\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "what steers the sweep is not compared before it",
        "pyrev/driver/held_inputs.py",
        "        self._steering = unit.steering if watched else frozenset[str]()\n",
        "        self._steering = frozenset[str]()\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "what a probe calls may change inputs unseen",
        "pyrev/api/differentiable.py",
        "    if call.function.callbacks:\n        hold = Hold.ANYBODY\n",
        "",
        HELD,
    ),
    Relapse(
        "inputs",
        "equal elements that move apart by as much leave the digest as it was",
        "pyrev/emit/digest.py",
        "KEYS = np.random.PCG64(2026).random_raw({BLOCK})\n",
        "KEYS = np.arange({BLOCK}, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "the loop that reads an array leaves out the last of it",
        "pyrev/emit/seals.py",
        "    return each * part + min(more, part)\n",
        "    return each * part\n",
        SEALS,
    ),
    Relapse(
        "inputs",
        "what a long row has not come to is left out of its share",
        "pyrev/emit/seals.py",
        '            loop.body += self.parsed(f"{shares}[{at}] += {rest}")\n',
        "            assert rest  # and no more\n",
        SEALS,
    ),
    Relapse(
        "inputs",
        "a loop without iterations has not looked at the array",
        "pyrev/emit/seals.py",
        '            end.append(f"if {parts} <= 0:")\n',
        '            end.append(f"if {parts} < 0:")\n',
        SEALS,
    ),
    # ------------------------------------------------ ranges of floats
    Relapse(
        "ranges",
        "the slope of asin cancels near one",
        "pyrev/ir/primitives.py",
        '"np.arcsin math.asin",\n        x="1 / sqrt((1 - x) * (1 + x))"',
        '"np.arcsin math.asin",\n        x="1 / sqrt(1 - x * x)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of atan2 by its first argument squares",
        "pyrev/ir/primitives.py",
        '        a="0 if a == 0 and b == 0 else b / a / (a + b * (b / a))"\n'
        '        " if abs(a) > abs(b) else 1 / (b + a * (a / b))",\n',
        '        a="0 if a == 0 and b == 0 else b / (a * a + b * b)",\n',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of atan2 by its second argument squares",
        "pyrev/ir/primitives.py",
        '" if abs(b) > abs(a) else -1 / (a + b * (b / a))"',
        '" if abs(b) > abs(a) else -a / (a * a + b * b)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of hypot squares",
        "pyrev/ir/primitives.py",
        '" if abs(a) > abs(b) else a / abs(b) / sqrt(1 + a / b * (a / b))"',
        '" if abs(a) > abs(b) else a / sqrt(a * a + b * b)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of asinh squares",
        "pyrev/ir/primitives.py",
        'math.asinh", x="1 / hypot(1.0, x)")',
        'math.asinh", x="1 / sqrt(1 + x * x)")',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of acosh squares, and cancels near one",
        "pyrev/ir/primitives.py",
        'x="1 / (sqrt(x - 1) * sqrt(x + 1))"',
        'x="1 / sqrt(x * x - 1)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of atanh cancels near one",
        "pyrev/ir/primitives.py",
        'x="1 / ((1 - x) * (1 + x))"',
        'x="1 / (1 - x * x)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of a quotient squares its divisor",
        "pyrev/ir/primitives.py",
        'b="-y / b"',
        'b="-a / (b * b)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of expm1 cancels far below zero",
        "pyrev/ir/primitives.py",
        'math.expm1", x="exp(x)")',
        'math.expm1", x="y + 1")',
        RANGES,
    ),
    Relapse(
        "ranges",
        "the slope of a power overflows with the power",
        "pyrev/ir/primitives.py",
        'a="0 if b == 0 else b * a ** (b - 1)"',
        'a="0 if b == 0 else b * y / a"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "a factor is pulled into a quotient that was a scale",
        "pyrev/ir/simplify.py",
        'return e if isinstance(b, Call) and b.op == "/" else mul(a, b, types)',
        "return mul(a, b, types)",
        RANGES,
    ),
    # ------------------------------------------------ errors of our making
    Relapse(
        "errors",
        "what pyrev itself raises passes as the user's",
        "pyrev/runtime/error_boundary.py",
        '        "pyrev": not isinstance(error, _MEANT),\n',
        '        "pyrev": False,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "what Numba raises passes as the user's",
        "pyrev/runtime/error_boundary.py",
        '        "compiler": not isinstance(error, MemoryError),\n',
        '        "compiler": False,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "what the user's function raises is called a bug of pyrev",
        "pyrev/runtime/error_boundary.py",
        '        "run": made,\n',
        '        "run": True,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "foreign bytes in the cache stop a call",
        "pyrev/runtime/code_cache.py",
        "        except Exception as error:  # what is read",
        "        except OSError as error:  # what is read",
        LOADING,
    ),
    Relapse(
        "errors",
        "a cache folder that was removed stops a call",
        "pyrev/runtime/code_cache.py",
        "        if not path.parent.is_dir():  # removed while we run\n"
        "            _private(path.parent)\n",
        "",
        LOADING,
    ),
    Relapse(
        "errors",
        "a gradient of an array is not refused",
        "pyrev/api/differentiable.py",
        '    if found != "a number":\n',
        '    if found == "nothing":\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "anything is taken for a flag",
        "pyrev/runtime/options.py",
        "    if isinstance(value, (bool, np.bool_)) or type(value) is int:\n",
        "    if value is not None:\n",
        ERRORS,
    ),
    Relapse(
        "errors",
        "a name that generated code lacks is the user's error",
        "pyrev/runtime/error_boundary.py",
        "_NEVER = (SystemError, NameError, AttributeError, KeyError, RecursionError)",
        "_NEVER = (SystemError,)",
        ERRORS,
    ),
    Relapse(
        "errors",
        "what NumPy raises for pyrev passes as the user's",
        "pyrev/runtime/error_boundary.py",
        '("numpy", "gast", "islpy", "astunparse")',
        '("gast", "islpy", "astunparse")',
        ERRORS,
    ),
    Relapse(
        "errors",
        "proofs in the cache that are damaged stop a call",
        "pyrev/runtime/code_cache.py",
        "    except (OSError, ValueError):\n        return None\n",
        "    except OSError:\n        return None\n",
        LOADING,
    ),
    Relapse(
        "errors",
        "what is no name is taken for one in a mapping",
        "pyrev/runtime/options.py",
        " or not all(isinstance(n, str) for n in value):\n",
        ":\n",
        ERRORS,
    ),
    # ------------------------------------------------ memory of a long process
    Relapse(
        "memory",
        "a generated module is never unloaded",
        "pyrev/runtime/code_cache.py",
        "        weakref.finalize(self, _unload, module, key).atexit = False\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "a generated module stays though nothing runs it",
        "pyrev/runtime/code_cache.py",
        "weakref.WeakValueDictionary[str, Loaded] = weakref.WeakValueDictionary()",
        "dict[str, Loaded] = {}",
        MEMORY,
    ),
    Relapse(
        "memory",
        "all modules count as recent",
        "pyrev/runtime/code_cache.py",
        "        while len(_RECENT) > _MOST:\n"
        "            _RECENT.popitem(last=False)\n",
        "",
        MEMORY,
    ),
    Relapse(
        "memory",
        "`sys.modules` keeps what was unloaded",
        "pyrev/runtime/code_cache.py",
        "        del sys.modules[module.__name__]\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "compiled code keeps the names of its module",
        "pyrev/runtime/code_cache.py",
        "        vars(module).clear()\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "all that is made of functions is kept for good",
        "pyrev/api/kept.py",
        "    found: T | None = kept.made.get(key)\n",
        "    vars(kept_with).setdefault(id(kept), kept)\n"
        "    found: T | None = kept.made.get(key)\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "what is made of functions is kept by their names",
        "pyrev/api/kept.py",
        "    if not isinstance(kept, _Kept) or kept.function is not function:\n"
        "        kept = function.__dict__[_KEPT] = _Kept(function)\n",
        "    every = vars(kept_with)\n"
        "    kept = every.setdefault(function.__qualname__, _Kept(function))\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "all readings of a function whose helper changes are kept",
        "pyrev/driver/readings.py",
        "        self._known[reading.forms] = (reading, *others)[:_KEPT]\n",
        "        self._known[reading.forms] = (reading, *others)\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "all that was derived of a reading is kept",
        "pyrev/driver/readings.py",
        "            if len(self._derived) >= _MOST:\n"
        "                self._derived.clear()\n",
        "",
        MEMORY,
    ),
    Relapse(
        "memory",
        "the plans for all sizes of calls are kept",
        "pyrev/driver/plan.py",
        "            if len(self._known) >= _MOST:\n"
        "                self._known.clear()\n",
        "",
        MEMORY,
    ),
    Relapse(
        "memory",
        "the room of a copy is not given back",
        "pyrev/driver/held_inputs.py",
        "                _taken -= self._taken\n",
        "                _taken -= 0\n",
        HELD,
    ),
    Relapse(
        "memory",
        "the file of a module that was unloaded counts as loaded",
        "pyrev/runtime/code_cache.py",
        "        generated.discard(key)\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "the text of a module that was unloaded is kept",
        "pyrev/runtime/code_cache.py",
        "        linecache.cache.pop(file, None)\n",
        "        pass\n",
        MEMORY,
    ),
    # ------------------------------------------------ integers that go around
    Relapse(
        "integers",
        "a product of integers is one of floats",
        "pyrev/adjoint/rules.py",
        "apart = factor is value or not wraps(factor, types)",
        "apart = True",
        "tests/adjoint/test_integers_that_go_around.py",
    ),
    Relapse(
        "integers",
        "the square of an integer is not negative",
        "pyrev/analysis/value_ranges.py",
        "case Call(op, args) if not wraps(e, self.types):",
        "case Call(op, args):",
        "tests/analysis/test_value_ranges.py",
    ),
    Relapse(
        "names",
        "the shape of an array is that of what has its name later",
        "pyrev/parse/rewriting/tuples.py",
        "times[name] == 1 and all(times[n] <= 1 for n in array or ())",
        "times[name] == 1",
        "tests/parse/test_tuples.py",
    ),
    Relapse(
        "names",
        "a part of a tuple that a call gives is one of its values",
        "pyrev/parse/subscripts.py",
        "not value.whole or place is None",
        "place is None",
        "tests/parse/test_spellings.py",
    ),
    Relapse(
        "names",
        "the index of a loop is what the loop changes",
        "pyrev/parse/loops.py",
        "        if name not in scope.text.loose:\n            variable",
        "        if True:\n            variable",
        "tests/parse/test_enumerate.py",
    ),
    # ------------------------------------------------ what is recorded
    Relapse(
        "recorded",
        "what is overwritten in an earlier iteration is what it was",
        "pyrev/schedule/storage/element_order.py",
        "written_before(timeline, w, at, index, loops, 0, found) is False",
        "True",
        "tests/schedule/test_read_before_written.py",
    ),
    Relapse(
        "recorded",
        "an iteration of a loop inside is the same one where two are compared",
        "pyrev/schedule/storage/element_order.py",
        "around = {f.index for f in loops[:p]}",
        "around = {f.index for f in loops if f is not loops[p]}",
        "tests/schedule/test_read_before_written.py",
    ),
    Relapse(
        "recorded",
        "rows that a nest writes are copied before it",
        "pyrev/schedule/storage/recomputation.py",
        "                map(_other_number, target.index, rows)\n",
        "                a != b for a, b in zip(target.index, rows, strict=False)\n",
        "tests/schedule/test_rows_before.py",
    ),
    Relapse(
        "recorded",
        "rows that are not there are read where no iteration does",
        "pyrev/schedule/storage/build.py",
        "return made if record.there is None else (If(record.there, made, loc=loc),)",
        "return made",
        "tests/schedule/test_rows_before.py",
    ),
    Relapse(
        "recorded",
        "a copy that changes is the argument",
        "pyrev/schedule/storage/build.py",
        "s.copied in left and s.dtype == like(s.copied) and changed[own] == 1",
        "s.copied in left and s.dtype == like(s.copied)",
        "tests/schedule/test_read_before_written.py",
    ),
    Relapse(
        "recorded",
        "a copy that is made later is the argument",
        "pyrev/schedule/storage/build.py",
        "        left -= written((s,))\n",
        "",
        "tests/schedule/test_read_before_written.py",
    ),
    Relapse(
        "recorded",
        "what an iteration ends with is what it began with",
        "pyrev/schedule/storage/trajectories.py",
        "add_int(found[axis], 1) if array in late else found[axis]",
        "found[axis]",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "a neighbour that is changed later counts as changed",
        "pyrev/schedule/storage/element_order.py",
        "return (apart[p].constant < 0) is not backwards",
        "return True",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "a loop that comes down goes up",
        "pyrev/schedule/storage/element_order.py",
        "return (apart[p].constant < 0) is not backwards",
        "return apart[p].constant < 0",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "an iteration that comes before, backwards, comes behind",
        "pyrev/schedule/storage/trajectories.py",
        "if not isinstance(loop, For) or loop.reverse:",
        "if not isinstance(loop, For):",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "what stands between two changes is an end",
        "pyrev/schedule/storage/trajectories.py",
        "before == {True})",
        "True in before)",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "a record of what a change leaves is made before it",
        "pyrev/schedule/storage/trajectories.py",
        "            behind=True,\n",
        "            behind=False,\n",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "a copy that is there has an older state",
        "pyrev/schedule/storage/tapes.py",
        "            and self.timeline.unchanged(leaf.array, other, nest)\n",
        "",
        "tests/schedule/test_trajectories.py",
    ),
    Relapse(
        "recorded",
        "a chosen element may be of an array that changes",
        "pyrev/adjoint/positions.py",
        "if array in changed or any(",
        "if any(",
        "tests/adjoint/test_positions.py",
    ),
    Relapse(
        "recorded",
        "a chosen element is read while it is chosen",
        "pyrev/adjoint/positions.py",
        "    return bool(loops) and not any(",
        "    return bool(loops) or not any(",
        "tests/adjoint/test_positions.py",
    ),
    Relapse(
        "recorded",
        "a tie goes to the other argument",
        "pyrev/adjoint/positions.py",
        '            return Call("not", (other,)), element\n',
        "            return Call(other.op, (element, kept)), element\n",
        "tests/adjoint/test_positions.py",
    ),
    Relapse(
        "recorded",
        "a statement that runs again reads the state of another iteration",
        "pyrev/schedule/storage/build.py",
        "isinstance(e, (Load, Var)) and e in copies",
        "isinstance(e, Load) and e in copies",
        "tests/schedule/test_cut.py",
    ),
    Relapse(
        "recorded",
        "an element is looked for by the subscripts that are read from copies",
        "pyrev/schedule/storage/build.py",
        "isinstance(e, (Load, Var)) and e in copies",
        "isinstance(e, Var) and e in copies",
        "tests/schedule/test_cut.py",
    ),
    Relapse(
        "recorded",
        "a tape over a loop inside is read where its iteration runs again",
        "pyrev/schedule/storage/cut.py",
        'if self._restorable(at, leaf) else "in"',
        'if name not in timeline.ranks else "in"',
        "tests/schedule/test_cut.py",
    ),
    Relapse(
        "recorded",
        "what an iteration reads of an array that it writes is there",
        "pyrev/schedule/storage/recomputation.py",
        "{(FUNCTION, name)}) if self.steady(at, leaf) else None",
        "{(FUNCTION, name)})",
        "tests/schedule/test_cut.py",
    ),
    Relapse(
        "recorded",
        "an element is recorded once although it changes",
        "pyrev/schedule/storage/tapes.py",
        "if all(self.timeline.unchanged(n, other, where) for n in mentioned(leaf)):",
        "if other:",
        "tests/schedule/test_cut.py tests/schedule/test_storage.py",
    ),
    Relapse(
        "recorded",
        "a second name of a dear value is the first, which gets another value",
        "pyrev/schedule/reuse.py",
        ") and first not in written(block[k + 1 :]):",
        "):",
        "tests/schedule/test_reuse.py",
    ),
    Relapse(
        "recorded",
        "a dear value is that of before its array changed",
        "pyrev/schedule/reuse.py",
        "                    live.pop(value, None)\n",
        "                    pass\n",
        "tests/schedule/test_reuse.py",
    ),
    # ------------------------------------- other lengths, shapes and selections
    Relapse(
        "shapes",
        "an array of an inner loop has the lengths of its last iteration",
        "pyrev/schedule/storage/decide.py",
        "break  # it has the lengths of the last one that it made\n",
        "pass\n",
        RESIZED,
    ),
    Relapse(
        "shapes",
        "an array gets its new length before it is read with the old one",
        "pyrev/parse/resized.py",
        "    if name in whole.reads() or any(e in before for e in parts):\n",
        "    if name in whole.reads():\n",
        RESIZED,
    ),
    Relapse(
        "shapes",
        "an element beyond the present length of an array is read",
        "pyrev/parse/subscripts.py",
        "        direct = False  # there may be elements beyond the present length\n",
        "        pass\n",
        RESIZED,
    ),
    Relapse(
        "shapes",
        "a write to a copy goes to the array",
        "pyrev/parse/subscripts.py",
        "        if store and last and isinstance(value, Array) and not value.view:\n",
        "        if False:\n",
        SELECTED,
    ),
    Relapse(
        "shapes",
        "under one mask an array of fewer axes goes along with the last ones",
        "pyrev/parse/masked.py",
        "    return bare if len(ranks) == 1 and ranks != {-1} else None\n",
        "    return bare\n",
        SELECTED,
    ),
    Relapse(
        "shapes",
        "an element that is named several times is changed as often",
        "pyrev/parse/whole_arrays.py",
        "    if op and target.scattered:\n",
        "    if False:\n",
        SELECTED,
    ),
    Relapse(
        "shapes",
        "elements that are named several times are read while they are written",
        "pyrev/parse/whole_arrays.py",
        "        if scattered or views.collected(e) != own:\n",
        "        if views.collected(e) != own:\n",
        SELECTED,
    ),
    Relapse(
        "helpers",
        "a helper that comes to its end gives something",
        "pyrev/parse/rewriting/maybe_returned.py",
        "        none, counts = not _ends(definition.body), set()\n",
        "        none, counts = False, set()\n",
        "tests/parse/test_maybe_returned.py",
    ),
    Relapse(
        "shapes",
        "a view without axes is not seen where its array is written to",
        "pyrev/parse/without_axes.py",
        "        if one.base is not None:\n",
        "        if False:\n",
        "tests/parse/test_without_axes.py",
    ),
    Relapse(
        "shapes",
        "an array without axes of two names is taken for a number",
        "pyrev/parse/without_axes.py",
        "        elif changed:\n",
        "        elif False:\n",
        "tests/parse/test_without_axes.py",
    ),
    Relapse(
        "shapes",
        "a local array counts as one row in memory, however it was made",
        "pyrev/parse/laid_out.py",
        "        sure = array in w.storage.by_rows and array not in bound_again\n",
        "        sure = True\n",
        ARRANGED,
    ),
    Relapse(
        "shapes",
        "an argument in another shape is written to, wherever its elements are",
        "pyrev/api/call.py",
        "        if rows:\n",
        "        if False:\n",
        ARRANGED,
    ),
    Relapse(
        "shapes",
        "parts of an array exchanged by a list are all read before",
        "pyrev/parse/rows.py",
        "        if any(a.view and a.base == place.base for a in wholes):\n",
        "        if False:\n",
        SELECTED,
    ),
    # ------------------------------------------------------ what threads share
    Relapse(
        "gpu",
        "an array is as long as its size is by now",
        "pyrev/analysis/array_shapes.py",
        "            and s.target.name not in params  # which has had a value before\n",
        "",
        "tests/analysis/test_array_shapes.py tests/targets/cuda/test_changed_sizes.py",
    ),
    Relapse(
        "gpu",
        "a thread copies its own elements of an array of all threads",
        "pyrev/emit/cuda/kernel.py",
        "            place = self.own_place(s.source, index)\n",
        "            place = index\n",
        "tests/targets/cuda/test_conformance_cuda.py",
    ),
    Relapse(
        "gpu",
        "what several threads add to is not added to atomically",
        "pyrev/emit/cuda/kernel.py",
        "        if isinstance(target, Load) and target.array in self.atomic:\n",
        "        if isinstance(target, Load) and target.array in ():\n",
        "tests/targets/cuda/test_conformance_cuda.py",
    ),
    Relapse(
        "gpu",
        "the elements of a thread's own array are those of another",
        "pyrev/emit/cuda/named.py",
        '        return f"{factor} * threads_x() + thread_x()"\n',
        '        return f"{factor} + thread_x()"\n',
        "tests/targets/cuda/test_conformance_cuda.py",
    ),
    Relapse(
        "gpu",
        "what fails in a thread is not told",
        "pyrev/emit/cuda/kernel.py",
        '        self.out(f"*status = {code};")\n',
        "        pass\n",
        "tests/targets/cuda/test_api_cuda.py",
    ),
    Relapse(
        "gpu",
        "the parts of several owners' sums lie in one place",
        "pyrev/emit/cuda/reduction.py",
        '    place = f"{owner} * gridDim.x + blockIdx.x" if owner else "blockIdx.x"\n',
        '    place = "blockIdx.x"\n',
        "tests/targets/cuda/test_conformance_cuda.py",
    ),
    Relapse(
        "gpu",
        "a loop that runs down runs up",
        "pyrev/emit/cuda/kernel.py",
        "            case Const(1) if not s.reverse:\n",
        "            case Const(1):\n",
        "tests/targets/cuda/test_conformance_cuda.py",
    ),
    # ------------------------------------------------ structures, texts, lists
    Relapse(
        "structures",
        "a structure that was made of its fields has not been refused yet",
        "pyrev/parse/reading.py",
        "    if not fence.has_told(node):\n",
        "    if type(node) not in fence.REJECTED:\n",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "what is used as a whole is nothing outside",
        "pyrev/parse/rewriting/structures/fields.py",
        "            if name in self.shapes:\n"
        "                continue\n"
        "            target =",
        "            if name in self.shapes or self.asked[name].kind != 'tuple':\n"
        "                continue\n"
        "            target =",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "behind a branch, what may be None is None",
        "pyrev/parse/rewriting/known_values.py",
        "            both = {n: v for n, v in one.items() if other.get(n) == v}\n",
        "            both = {\n"
        "                n: v\n"
        "                for n, v in one.items()\n"
        '                if getattr(other.get(n), "value", 0)'
        ' == getattr(v, "value", 1)\n'
        "            }\n",
        KNOWN,
    ),
    Relapse(
        "structures",
        "a dictionary inside of another one is written to, whatever else names it",
        "pyrev/parse/rewriting/structures/fields.py",
        "                alone = len(use.stored) == 1 and"
        " shape.at(use.stored) is None\n",
        "                alone = shape.at(use.stored) is None\n",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "a record is a copy of what is in its array",
        "pyrev/parse/rewriting/structures/fields.py",
        '            if shape.kind == "record" and may_change(self.node, names):\n',
        "            if False:\n",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "a cotangent of another structure is taken as far as it goes",
        "pyrev/driver/forms.py",
        "        if not fields or more or fewer:\n",
        "        if False:\n",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "a class makes of gradients what it makes of arguments",
        "pyrev/driver/forms.py",
        "    if cls is not None and dataclasses.is_dataclass(cls)"
        " and only_keeps(cls):\n",
        "    if cls is not None and dataclasses.is_dataclass(cls):\n",
        STRUCTURES,
    ),
    Relapse(
        "structures",
        "a helper's defaults are those of the parameters that its text has left",
        "pyrev/parse/helpers.py",
        "        return _number(default_values(helper.python).get(name, MISSING))\n",
        "        node, given = helper.source.node, helper.python.__defaults__ or ()\n"
        "        names = [p.id for p in node.args.args][-len(given) :]\n"
        "        return _number(dict(zip(names, given)).get(name, MISSING))\n",
        KNOWN,
    ),
    Relapse(
        "structures",
        "a default that was replaced is that of the text",
        "pyrev/parse/calls.py",
        "        defaults = default_values(helper.python)\n",
        "        defaults = known_defaults(definition)\n",
        KNOWN,
    ),
    Relapse(
        "lists",
        "what a loop over a tuple runs over is read before it",
        "pyrev/parse/rewriting/tuple_loops.py",
        "            case gast.Name(id=name) if name not in stored:\n",
        "            case gast.Name():\n",
        TUPLE_LOOPS,
    ),
    Relapse(
        "lists",
        "copies behind a `break` are passed over",
        "pyrev/parse/rewriting/tuple_loops.py",
        "            if flags and k:\n",
        "            if flags and k > 1:\n",
        TUPLE_LOOPS,
    ),
    Relapse(
        "lists",
        "a part of a list is a view of it",
        "pyrev/parse/rewriting/lists/literals.py",
        "                    raise NotThisWay  # a list of its own\n",
        "                    pass\n",
        LISTS,
    ),
    Relapse(
        "lists",
        "what is written to an array in a list does not show under its own name",
        "pyrev/parse/rewriting/lists/sharing.py",
        "        if fresh or not self.unread:\n",
        "        if True:\n",
        "tests/parse/test_lists_of_arrays.py",
    ),
    Relapse(
        "lists",
        "a helper may do with a list what it does with an array",
        "pyrev/parse/rewriting/lists/literals.py",
        "        return all(takes_elements(function, k, call) for k in given)\n",
        "        return True\n",
        LISTS,
    ),
    Relapse(
        "lists",
        "what is stored in a list has no say in its dtype",
        "pyrev/parse/rewriting/lists/literals.py",
        "            assign([name_of(item, ctx=gast.Store())], value),\n"
        "            assign([self._told(place)], name_of(item)),\n",
        "            assign([self._told(place)], value),\n",
        LISTS,
    ),
    Relapse(
        "lists",
        "a comprehension is evaluated before the helper that stands in front of it",
        "pyrev/parse/rewriting/comprehensions.py",
        "if self.calls_helpers(s) or self.draws_in_front(s):",
        "if self.draws_in_front(s):",
        LISTS,
    ),
    Relapse(
        "lists",
        "two lists of a helper are added element by element",
        "pyrev/parse/rewriting/lists/results.py",
        "        return self._refused(node) if self.gives(node) else node\n",
        "        return node\n",
        LISTS,
    ),
    Relapse(
        "lists",
        "what is taken from an empty list is what stood behind it",
        "pyrev/parse/rewriting/lists/literals.py",
        "        return [placed(test, at), placed(less, at)]\n",
        "        return [placed(less, at)]\n",
        LISTS,
    ),
    Relapse(
        "names",
        "names of one tuple assignment are arrays if one of them is",
        "pyrev/parse/assignments.py",
        "for group in [g for g in groups if g[0] & own]:",
        "for group in [*groups]:",
        "tests/parse/test_tuples.py",
    ),
    Relapse(
        "names",
        "a loop over records that nobody writes to has no place to go over",
        "pyrev/parse/rewriting/structures/fields.py",
        "self.views = self.views or bool(self.turns)",
        "pass",
        "tests/parse/test_record_views.py",
    ),
    Relapse(
        "objects",
        "a text in a structure from outside is what it was when the function was read",
        "pyrev/parse/rewriting/structures/captured.py",
        "            lookup(own)  # the text rests on it\n",
        "",
        "tests/parse/test_captured_structures.py",
    ),
    Relapse(
        "objects",
        "a number that a method writes is read from outside as it was before",
        "pyrev/api/call.py",
        "            check_outside(self._cells, self.function.parsed.captured)\n",
        "",
        "tests/parse/test_captured_structures.py",
    ),
    Relapse(
        "objects",
        "two functions of a module read the same object where each has one of its own",
        "pyrev/parse/names.py",
        "    if base in holder.__code__.co_freevars:\n",
        "    if False:\n",
        "tests/parse/test_captured_structures.py",
    ),
    Relapse(
        "objects",
        "a method that was replaced in its class is the old one",
        "pyrev/parse/grounds.py",
        "            self._note(_IN_CLASSES, _asking_class, name, found)\n",
        "",
        "tests/parse/test_methods.py",
    ),
    Relapse(
        "objects",
        "what a helper gives back on some path is a copy",
        "pyrev/parse/rewriting/returned_objects.py",
        "                return [*self._given_back(e, place)]\n",
        "                return [_OTHER]\n",
        "tests/parse/test_returned_objects.py",
    ),
    Relapse(
        "objects",
        "a function of the object's own is passed over for that of its class",
        "pyrev/parse/rewriting/structures/methods.py",
        'if way != "property" and not isinstance(shape.get(attr), Missing):',
        "if False:",
        "tests/parse/test_methods.py",
    ),
    Relapse(
        "objects",
        "what a helper is given is drawn before what stands in front of its call",
        "pyrev/parse/rewriting/structures/nested_calls.py",
        "if any(call_draws(c, self.local, self.lookup) for c in calls):",
        "if False:",
        "tests/parse/test_methods.py",
    ),
    # ------------------------------------------- what a word of NumPy's means
    Relapse(
        "meanings",
        "a count of draws is what the function returns",
        "pyrev/ir/counting.py",
        "            return None  # what it raises",
        "            pass  # what it raises",
        "tests/driver/test_draws.py",
    ),
    Relapse(
        "meanings",
        "truth values are added as numbers",
        "pyrev/parse/bool_arithmetic.py",
        '_MEANS = {"+": "|", "*": "&"}',
        '_MEANS = {"*": "&"}',
        "tests/parse/test_truth_values.py",
    ),
    Relapse(
        "meanings",
        "a product of NumPy's counts truth values",
        "pyrev/parse/bool_arithmetic.py",
        "elif e.op in _MEANS and e.loc == s.loc:",
        "elif False:",
        "tests/parse/test_truth_values.py",
    ),
    Relapse(
        "meanings",
        "truth values of Python's do not count either",
        "pyrev/parse/bool_arithmetic.py",
        "return all(map(self.truth, parts)) and any(map(self.numpy, parts))",
        "return all(map(self.truth, parts))",
        "tests/parse/test_truth_values.py",
    ),
    Relapse(
        "meanings",
        "a slice with a step ends a step too early",
        "pyrev/parse/views.py",
        '        return size(plain(Call("+", (whole, ONE))))\n',
        "        return size(whole)\n",
        "tests/parse/test_slice_steps.py",
    ),
    Relapse(
        "meanings",
        "a step that is negative is taken",
        "pyrev/parse/subscripts.py",
        "message, loc=at))\n    return value\n",
        "message, loc=at)) if False else 0\n    return value\n",
        "tests/parse/test_slice_steps.py",
    ),
    Relapse(
        "meanings",
        "a ufunc that gives what it is given gives that array",
        "pyrev/parse/ufuncs.py",
        "        or not isinstance(last.value, (gast.BinOp, gast.Call))\n",
        "",
        "tests/parse/test_numba_ufuncs.py",
    ),
    Relapse(
        "meanings",
        "a ufunc of two loops takes floats of any size",
        "pyrev/parse/ufuncs.py",
        "            w.found.alike_kinds.append((name, taken(helper), at))\n",
        "            pass\n",
        "tests/parse/test_numba_ufuncs.py",
    ),
    # --------------------------------------------- names of places and of nothing
    Relapse(
        "places",
        "a slice is what its parts are where it is used",
        "pyrev/parse/rewriting/slices.py",
        "            elif len(every) == 1 and None not in every:\n",
        "            elif len(every) == 1:\n",
        "tests/parse/test_named_slices.py",
    ),
    Relapse(
        "places",
        "a slice on two paths has the parts of the first",
        "pyrev/parse/rewriting/slices.py",
        "every = {literal_integer(b[k][j]) for b in bound if b[k][j] is not None}",
        "every = {literal_integer(b[k][j]) for b in bound[:1] if b[k][j] is not None}",
        "tests/parse/test_named_slices.py",
    ),
    Relapse(
        "places",
        "the place of an extreme counts columns as rows",
        "pyrev/parse/reductions.py",
        "zip(index[1:], whole.shape[1:], strict=True)",
        "zip(index[1:], whole.shape[:-1], strict=True)",
        "tests/parse/test_named_places.py",
    ),
    Relapse(
        "places",
        "None moves in front of a test that reads the name",
        "pyrev/parse/rewriting/none_first.py",
        "    if name in identifiers(s.test):\n        return []\n",
        "",
        "tests/parse/test_none_first.py",
    ),
    Relapse(
        "places",
        "None moves in front of a branch that reads the name",
        "pyrev/parse/rewriting/none_first.py",
        "        if there is None or name in identifiers(theirs[there].value):\n",
        "        if there is None:\n",
        "tests/parse/test_none_first.py",
    ),
    Relapse(
        "places",
        "the end of the integers is moved by one",
        "pyrev/parse/expressions.py",
        "    if isinstance(limit, int) and abs(limit) > _MOVED:\n",
        "    if False and isinstance(limit, int):\n",
        "tests/parse/test_integer_limits.py",
    ),
    Relapse(
        "places",
        "what some paths record is handed on by all",
        "pyrev/driver/two_sweeps.py",
        "        if name not in read or name in params:\n            continue\n",
        "        continue\n",
        "tests/driver/test_sweeps.py",
    ),
    Relapse(
        "places",
        "an early walk knows all axes of what it sees",
        "pyrev/parse/capacity.py",
        "        once = len(shapes) == 1 and axis < len(shapes[0])\n",
        "        once = len(shapes) == 1\n",
        "tests/parse/test_named_places.py",
    ),
]


def copied(to: Path) -> None:
    """The tracked and new files of the checkout, without its caches."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


@dataclass(frozen=True)
class Verdict:
    """What the tests made of a relapse: "noticed", or why not; the test that failed."""

    word: str
    seconds: float
    test: str = ""


class Bench:
    """A copy of the sources, in which relapses are tried one after the other."""

    def __init__(self, folder: Path) -> None:
        copied(folder)
        self._folder = folder
        self._sound: dict[str, bool] = {}

    def verdict(self, relapse: Relapse) -> Verdict:
        """Does a test fail with this bug that passes without?"""
        began = time.monotonic()
        path = self._folder / relapse.file
        text = path.read_text()
        path.write_text(relapse.applied(text))
        try:
            code, failed = self._run(relapse.tests.split())
        finally:
            path.write_text(text)
        if code == 0:
            word = "MISSED"
        elif not failed:
            word = "BROKEN"  # no test ran: nobody could have missed that
        else:
            if failed not in self._sound:
                self._sound[failed] = self._run([failed])[0] == 0
            word = "noticed" if self._sound[failed] else "UNSOUND"
        return Verdict(word, time.monotonic() - began, failed)

    def _run(self, tests: Sequence[str]) -> tuple[int, str]:
        """The exit code of pytest, and the first test that failed, or ended it.

        Byte code is found by the time and the size of a file, which an edit may keep;
        so none is written.
        """
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-v", "-rfE"]
        own = {"PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        others = {k: v for k, v in os.environ.items() if k != "PYREV_TEST_CACHE"}
        done = subprocess.run(
            [*command, "--tb=no", "-p", "no:cacheprovider", *tests],
            cwd=self._folder,
            env=others | own,
            capture_output=True,
            text=True,
            check=False,
        )
        summary = r"^(?:FAILED|ERROR) (\S+\.py::.+?)(?: - .*)?$"
        failed = re.search(summary, done.stdout, re.MULTILINE)
        if done.returncode < 0:  # the interpreter died of it
            failed = re.search(r"^(\S+\.py::.+?) *\Z", done.stdout, re.MULTILINE)
        return done.returncode, failed[1] if failed else ""


def numbered(relapses: Sequence[Relapse]) -> Iterator[tuple[int, Relapse]]:
    """Each relapse with its number in its class."""
    count: Counter[str] = Counter()
    for r in relapses:
        count[r.kind] += 1
        yield count[r.kind], r


def table(relapses: Sequence[tuple[int, Relapse]]) -> str:
    """Class, number, file and bug, in columns."""
    rows = [(r.kind, str(k), r.file, r.bug) for k, r in relapses]
    rows.insert(0, ("class", "no", "file", "the bug"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = list(dict.fromkeys(r.kind for r in RELAPSES))
    parser.add_argument("--only", nargs="+", choices=kinds, help="of these classes")
    parser.add_argument("--number", type=int, nargs="+", help="the numbers in them")
    parser.add_argument("--list", action="store_true", help="run nothing")
    given = parser.parse_args(arguments)
    chosen = [
        (k, r)
        for k, r in numbered(RELAPSES)
        if r.kind in (given.only or kinds) and k in (given.number or [k])
    ]
    if given.list:
        print(table(chosen))
        return 0
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for k, r in chosen:
            found = bench.verdict(r)
            count[r.kind] += found.word == "noticed"
            print(f"{found.word:8} {found.seconds:4.0f} s  {r.kind} {k}: {r.bug}")
            print(f"{'':18}{found.test}", flush=True)
    of = Counter(r.kind for _, r in chosen)
    for kind in of:
        print(f"{kind:10} {count[kind]} of {of[kind]} noticed")
    return int(count != of)


if __name__ == "__main__":
    sys.exit(main())
