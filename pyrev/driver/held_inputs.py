"""What a pullback has of the arguments of its call: the law of inputs that change.

The reverse sweep reads arrays of the caller after the call. Of each that it reads the
pullback has a copy, or else a digest of all bits, which it compares with that of what
the sweep has read: a change does nothing, or is seen, and never makes a wrong gradient.
What steers the sweep is compared before it, too, since other data could lead it outside
of arrays. Digests of large arrays are made by the loops that read them, where these are
parallel: see `pyrev.emit.seals`.
"""

from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pyrev.driver.targets import CUDA, NUMBA
from pyrev.driver.unit import Unit, of_text
from pyrev.emit import digest as texts
from pyrev.emit.digest import BLOCK
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import Param
from pyrev.runtime import device
from pyrev.runtime.forks import at_fork

#: Bytes of an array that is copied: beyond, two digests cost less.
SMALL = 1 << 20
#: Bytes of an array that is kept as it is in place of a digest.
FEW = 1 << 12
#: Bytes of the copies in all pullbacks that are alive: a pullback for each of a
#: thousand calls must not mean a thousand copies of what they all read.
MOST = 1 << 28


_REMEDY = "pass copy=True to vjp if inputs are to be changed before the last pullback"

# Re-entrant: a pullback may be collected while another one takes room.
_lock = threading.RLock()
_taken = 0


class Hold(enum.Enum):
    """Who may change inputs until the pullback has run."""

    NOBODY = "it is called before anybody else runs"
    SEEN = "who does is told so"
    ANYBODY = "all that the sweep reads is copied"


class Watched:
    """Arrays that may not change until a derivative of `function` is done.

    Those in `steering` decide where the derivative goes: see `analysis.steering`.
    `seals` are those of the arrays as they have to be, made now if there are none.
    """

    def __init__(
        self,
        function: str,
        arrays: Mapping[str, Any] | Inputs,
        steering: frozenset[str],
        remedy: str,
        seals: Mapping[str, Any] | None = None,
    ) -> None:
        self._function, self._steering, self._remedy = function, steering, remedy
        self._inputs = arrays if isinstance(arrays, Inputs) else Inputs(arrays)
        if seals is None:
            seals = {name: seal(a) for name, a in self._inputs.arrays.items()}
        self._seals = seals

    def check(self, done: bool) -> None:
        """`ArgumentError` if an array has changed: of those that steer before the
        derivative runs, of all when it is `done`.
        """
        for name, array in self._inputs.arrays.items():
            if done or name in self._steering:
                self._compare(name, seal(array))

    def checked(self, unit: Unit, values: Sequence[Any]) -> Any:
        """What the code of the derivative gives, or `ArgumentError` if an array that it
        has read is another one by now.
        """
        self.check(done=False)
        raw, seals = self._inputs.run(unit, values)
        for name, found in seals.items():
            self._compare(name, found)
        return raw

    def _compare(self, name: str, found: Any) -> None:
        if not _equal(found, self._seals[name]):
            raise ArgumentError(
                f"`{name}` changed since {self._function}() ran; {self._remedy}"
            )


class Held:
    """The arguments of a call for its pullback, which runs `unit`.

    `arrays` has them by name, as the sweep gets them: of the `read` ones copies, or
    what is `watched`. Arrays are views, since the shape of the caller's object may be
    assigned to. `own` are the caller's arrays, unless those may be anything by now.
    With `lean` compiled code gets no copies, which take memory.
    """

    def __init__(
        self,
        function: str,
        values: Mapping[str, Any],
        read: frozenset[str],
        hold: Hold,
        unit: Unit,
        lean: bool = False,
    ) -> None:
        self.arrays = dict(values)
        self.own: list[Any] = []
        self._taken = 0
        #: The bytes of the copies.
        self.copied = 0
        self._function = function
        watched: dict[str, Any] = {}
        for name, value in () if hold is Hold.NOBODY else values.items():
            if not device.is_array(value):
                continue
            if name not in read:
                self.arrays[name] = value.view()
            elif hold is Hold.ANYBODY:
                self.arrays[name] = copied(value)
                self.copied += value.nbytes
            elif unit.target.copies_inputs or not lean and self._take(value.nbytes):
                self.arrays[name] = copied(value)
                self.copied += value.nbytes
                self.own.append(value)
            else:
                watched[name] = self.arrays[name] = value.view()
        self._inputs = Inputs(watched) if watched else None
        self._steering = unit.steering if watched else frozenset[str]()
        self._watched: Watched | None = None

    def forward(self, unit: Unit, values: Sequence[Any]) -> Any:
        """Run the code of the call; what is watched has to be from now on as it was."""
        if self._inputs is None:
            return unit.call(values)
        raw, seals = self._inputs.run(unit, values)
        self._watched = Watched(
            self._function, self._inputs, self._steering, _REMEDY, seals
        )
        return raw

    def reverse(self, unit: Unit, values: Sequence[Any]) -> Any:
        """Run the code of the pullback; `ArgumentError` if what is watched is another
        by now.
        """
        if self._watched is None:
            return unit.call(values)
        return self._watched.checked(unit, values)

    def _take(self, size: int) -> bool:
        """Is there room for a copy of so many bytes? Then it is taken."""
        global _taken
        if size > SMALL:
            return False
        with _lock:
            if _taken + size > MOST:
                return False
            _taken += size
            self._taken += size
            return True

    def __del__(self) -> None:
        global _taken
        if self._taken:
            with _lock:
                _taken -= self._taken


def _after_fork() -> None:
    """A child starts with a lock of its own: the parent's may have been held."""
    global _lock
    _lock = threading.RLock()


at_fork(in_child=_after_fork)


def copied(array: Any) -> Any:
    """A copy with the elements in the same order in memory, so that what was compiled
    for the array is for the copy, too.
    """
    if array.flags.c_contiguous or device.is_device(array):
        return device.copied(array)
    if array.flags.f_contiguous:
        return device.copied(array.T).T
    return array.copy(order="K")


class Inputs:
    """Arrays that compiled code only reads, by name."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)
        #: Those that are large and lie in memory as their subscripts count.
        self._rows = {
            name: _Row(array.reshape(-1))
            for name, array in arrays.items()
            if not device.is_device(array)
            and array.flags.c_contiguous
            and array.nbytes > max(SMALL, FEW)
        }

    def run(self, unit: Unit, values: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """Run `unit`: what it gives, and the seals of the arrays.

        It makes those of large ones where it reads them, if it can.
        """
        rows = self._rows if unit.target.seals else {}
        if rows and not self._pays(unit, values):
            rows = {}
        names = unit.sealing(tuple(rows)).arrays if rows else ()
        if not names:
            raw = unit.call(values)
            return raw, {name: seal(array) for name, array in self.arrays.items()}
        sums = np.zeros(len(names), np.uint64)
        raw = unit.call(values, names, [*(rows[n].words for n in names), sums])
        seals = dict(zip(names, map(int, sums), strict=True))
        for name, array in self.arrays.items():
            if name in seals:
                seals[name] = (seals[name] + rows[name].beside(0)) % 2**64
            else:
                seals[name] = seal(array)
        return raw, seals

    def _pays(self, unit: Unit, values: Sequence[Any]) -> bool:
        """Do digests of their own take so long that code which makes them pays for its
        compilation?
        """
        work = unit.operations(values)
        words = sum(self.arrays[n].nbytes for n in self._rows) / 8
        return work is None or work < unit.costs.operations_beside_digest * words


class _Row:
    """A contiguous row as words in whole blocks, and what is beside them."""

    def __init__(self, row: np.ndarray[Any, Any]) -> None:
        self._raw = raw = row.view(np.uint8)
        start = min(-raw.__array_interface__["data"][0] % 8, raw.size)
        end = start + (raw.size - start) // (8 * BLOCK) * 8 * BLOCK
        self._edges = start, end
        self.words = raw[start:end].view(np.uint64)
        #: The blocks that it has, of which the last two are for what is beside.
        self.blocks = self.words.size // BLOCK + 2

    def beside(self, place: int) -> int:
        """The digest of what is beside the words, which start at block `place`."""
        start, end = self._edges
        if start == 0 and end == self._raw.size:
            return 0
        rest = np.zeros(16 * BLOCK, np.uint8)
        rest[:start] = self._raw[:start]
        rest[8 : 8 + self._raw.size - end] = self._raw[end:]
        return _digest(rest.view(np.uint64), place + self.blocks - 2)


def seal(array: Any) -> Any:
    """What differs if the array changes: its elements if these are few, or a digest."""
    if device.is_device(array):
        return _on_device().call([array])
    return array.tobytes() if array.nbytes <= FEW else digest(array)


def digest(array: np.ndarray[Any, Any]) -> int:
    """A number for all bits of an array: see `pyrev.emit.digest`."""
    total = place = 0
    for row in map(_Row, pieces(array)):
        total += _digest(row.words, place) + row.beside(place)
        place += row.blocks
    return total % 2**64


def _digest(words: np.ndarray[Any, Any], place: int) -> int:
    """The digest of blocks of which the first one has the number `place`."""
    return int(_compiled().call([words, np.uint64(place)]))


def _equal(found: Any, before: Any) -> bool:
    if device.is_device(found):
        return bool((found == before).all())
    return bool(found == before)


def pieces(array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """The elements in contiguous rows, in the order in which they lie in memory.

    An element that is repeated along an axis comes once.
    """
    whole, turned, first = slice(None), slice(None, None, -1), slice(0, 1)
    array = array[
        tuple(whole if s > 0 else turned if s < 0 else first for s in array.strides)
    ]
    axes = sorted(range(array.ndim), key=lambda k: -array.strides[k])
    array = array.transpose(axes)
    if array.flags.c_contiguous:
        yield array.reshape(-1)
        return
    flags: Any = ("external_loop", "buffered", "zerosize_ok")  # the stubs misspell one
    wanted: Any = [("readonly", "contig", "aligned")]
    rows = np.nditer(array, flags, wanted, order="C", buffersize=1 << 15)
    with rows:
        yield from rows


@functools.cache
def _compiled() -> Unit:
    params = (Param("words", 1, "uint64"), Param("place", 0, "uint64"))
    return of_text(texts.NAME, params, texts.TEXT, NUMBA)


@functools.cache
def _on_device() -> Unit:
    params = (Param("array", 1, "float64"),)
    return of_text(texts.NAME, params, texts.CUDA, CUDA)
