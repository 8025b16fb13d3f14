"""Statements on whole arrays: slices, broadcasting, reductions, views, new arrays."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tools.generator.helpers import Helpers
from tests.tools.generator.scope import Array, Dim, Int, Scope

FUNCTIONS = ("np.sin", "np.cos", "np.tanh", "np.abs", "np.exp", "np.sqrt", "np.arctan")


@dataclass(frozen=True, slots=True)
class View:
    """An array expression that denotes elements of `base`: its text and its sizes."""

    text: str
    key: tuple[str, ...]
    size: tuple[int, ...]
    base: Array


class Whole(Helpers):
    """The part of the writer that thinks in arrays."""

    def views(self, scope: Scope, rank: int) -> list[View]:
        """What of this rank can be written down, grouped later by `key`."""
        found: list[View] = []
        for a in scope.arrays.values():
            if not a.is_float or any(d.lo != d.hi for d in a.shape):
                continue
            keys, sizes = [d.key for d in a.shape], [d.lo for d in a.shape]
            if len(a.shape) == rank:
                found.append(View(a.name, tuple(keys), tuple(sizes), a))
                for cut, parts in ((1, ("1:", ":-1")), (2, ("1:-1", "2:", ":-2"))):
                    if min(sizes) > cut:
                        key = tuple(f"{k} - {cut}" for k in keys)
                        size = tuple(s - cut for s in sizes)
                        for part in parts if rank == 1 else parts[:2]:
                            text = ", ".join([part] * rank)
                            found.append(View(f"{a.name}[{text}]", key, size, a))
                if rank == 1:
                    found.append(View(f"{a.name}[::-1]", tuple(keys), tuple(sizes), a))
                if rank == 2 and "transpose" not in self.without:
                    found.append(
                        View(f"{a.name}.T", tuple(keys[::-1]), tuple(sizes[::-1]), a)
                    )
            if rank == 1 and len(a.shape) == 2 and a.has_elements:
                i = self.subscript(scope, a.shape[0], 0)
                j = self.subscript(scope, a.shape[1], 0)
                for text, axis in (
                    (f"{a.name}[{i}]", 1),
                    (f"{a.name}[{i}, :]", 1),
                    (f"{a.name}[:, {j}]", 0),
                ):
                    found.append(View(text, (keys[axis],), (sizes[axis],), a))
        return found

    def operand(self, scope: Scope, views: list[View]) -> str:
        if self.chance(22):
            return self.value(scope, 0)
        view = self.pick(*views)
        if view.text.endswith(".T"):
            self.use("transpose")
        return view.text

    def arrayed(self, scope: Scope, views: list[View], depth: int) -> str:
        """An expression that certainly has the shape of `views`."""
        if depth <= 0:
            view = self.pick(*views)
            if view.text.endswith(".T"):
                self.use("transpose")
            return view.text
        left = self.arrayed(scope, views, depth - 1)
        right = self.operand(scope, views)
        form = self.choose(
            [
                (8, "binary"),
                (3, "half"),
                (3, "whole-array function"),
                (2, "whole-array where"),
                (2, "quotient"),
                (1, "square"),
                (1, "extreme"),
            ]
        )
        match form:
            case "binary":
                return f"({left} {self.pick('+', '-', '*')} {right})"
            case "half":
                return f"0.5 * {left}"
            case "quotient":
                return f"{left} / (1.5 + {right} ** 2)"
            case "square":
                return f"{left} ** 2"
            case "extreme":
                return f"np.{self.pick('maximum', 'minimum')}({left}, {right})"
            case "whole-array where":
                self.use(form)
                return f"np.where({left} > 0.1, {right}, {left})"
            case _:
                self.use(form)
                name = self.pick(*FUNCTIONS)
                if name == "np.sqrt":
                    return f"np.sqrt(1.0 + {left} ** 2)"
                if name == "np.exp":
                    return f"np.exp(-{left} ** 2)"
                return f"{name}({left})"

    def like(self, scope: Scope, key: tuple[str, ...]) -> list[View]:
        return [v for v in self.views(scope, len(key)) if v.key == key]

    # ---------------------------------------------------------------- statements

    def whole_statement(self, scope: Scope) -> bool:
        pulled = self.themes.intersection(("transpose", "broadcast row"))
        rank = 1 if self.chance(20 if pulled else 70) else 2
        views = self.views(scope, rank)
        form = self.choose(
            [
                (5, "slice assignment"),
                (4, "whole-array assignment"),
                (4, "whole-array augmented"),
                (3, "whole-array name"),
                (2, "rebound array"),
                (2, "broadcast row"),
                (3, "np.sum"),
                (2, "sum method"),
                (2, "np.dot"),
                (1, "@ of vectors"),
                (2, "@ with a matrix"),
                (2, "np.min or np.max"),
                (1, "mean"),
                (2, "sum along an axis"),
                (2, "mask array"),
            ]
        )
        if not form:
            return False
        if form in (
            "slice assignment",
            "whole-array assignment",
            "whole-array augmented",
        ):
            done = self.assigned(form, scope, views)
        elif form in ("whole-array name", "rebound array", "mask array"):
            done = self.named(form, scope, views)
        else:
            done = self.reduced(form, scope)
        if done:
            self.use(form)
        return done

    def assigned(self, form: str, scope: Scope, views: list[View]) -> bool:
        sliced = form == "slice assignment"
        targets = [
            v
            for v in views
            if v.base.writable
            and ("[" in v.text) == sliced
            and not v.text.endswith(".T")
        ]
        if not targets:
            return False
        target = self.pick(*targets)
        like = self.like(scope, target.key)
        value = self.arrayed(scope, like, self.pick(0, 1, 1, 2))
        if form == "whole-array augmented":
            op = self.pick("+=", "-=", "*=", "/=")
            text = f"1.5 + {value} ** 2" if op == "/=" else value
            whole = "" if self.chance(60) else "[:]"
            self.emit(f"{target.text}{whole} {op} {text}")
            return True
        if not sliced:
            part = ", ".join([":"] * len(target.key)) if self.chance(50) else ":"
            if self.chance(15):
                value = self.value(scope, 1)
            self.emit(f"{target.text}[{part}] = {value}")
            return True
        op = self.pick("=", "=", "=", "+=", "-=", "*=")
        roots = {v.base.root or v.base.name for v in like if v.text == value}
        if op == "=" and roots & {target.base.root, target.base.name}:
            # NumPy copies between overlapping rows and columns element by element.
            value += ".copy()"
        self.emit(f"{target.text} {op} {value}")
        return True

    def named(self, form: str, scope: Scope, views: list[View]) -> bool:
        if form == "rebound array":
            local = [
                a
                for a in scope.arrays.values()
                if a.is_float
                and not a.parameter
                and not a.root
                and a.writable
                and a.dtype == "float64"
                and all(d.lo == d.hi for d in a.shape)
            ]
            if self.mixed:
                return False
            if not local:
                source = self.pick(*views) if views else None
                if source is None or source.base.dtype != "float64":
                    return False
                v = self.name("v")
                self.emit(f"{v} = 0.5 * {source.text}")
                shape = tuple(
                    Dim(f"{v}.shape[{k}]", s, s, key)
                    for k, (key, s) in enumerate(
                        zip(source.key, source.size, strict=True)
                    )
                )
                local = [Array(v, shape)]
                scope.arrays[v] = local[0]
            array = self.pick(*local)
            like = self.like(scope, tuple(d.key for d in array.shape))
            value = self.arrayed(scope, like, self.pick(1, 2))
            self.emit(f"{array.name} = {value}")
            return True
        if not views:
            return False
        source = self.pick(*views)
        like = [v for v in views if v.key == source.key]
        v = self.name("v")
        shape = tuple(
            Dim(f"{v}.shape[{k}]", s, s, key)
            for k, (key, s) in enumerate(zip(source.key, source.size, strict=True))
        )
        if form == "mask array":
            self.emit(
                f"{v} = {self.arrayed(scope, like, 1)} > {self.pick('0.1', '0.0')}"
            )
            scope.arrays[v] = Array(v, shape, "bool", writable=False)
            return True
        self.emit(f"{v} = {self.arrayed(scope, like, self.pick(1, 1, 2))}")
        # Which precision a mixed expression has is left to NumPy.
        scope.arrays[v] = Array(v, shape, "float64", writable=not self.mixed)
        return True

    def reduced(self, form: str, scope: Scope) -> bool:
        t = self.name("t")
        vectors, matrices = self.views(scope, 1), self.views(scope, 2)
        match form:
            case "np.sum" | "sum method" | "np.min or np.max" | "mean":
                either = [v for v in (vectors, matrices) if v]
                if not either:
                    return False
                views = self.pick(*either)
                source = self.pick(*views)
                like = [v for v in views if v.key == source.key]
                if form != "np.sum" and self.chance(60):
                    method = {
                        "sum method": ("sum",),
                        "np.min or np.max": ("min", "max"),
                        "mean": ("mean",),
                    }[form]
                    self.emit(f"{t} = {source.text}.{self.pick(*method)}()")
                else:
                    name = {"np.min or np.max": ("min", "max"), "mean": ("mean",)}
                    value = self.arrayed(scope, like, self.pick(0, 1))
                    self.emit(
                        f"{t} = np.{self.pick(*name.get(form, ('sum',)))}({value})"
                    )
                if form == "sum method" and scope.indices and self.chance(30):
                    i = self.pick(*scope.indices)
                    if i.lo >= 0 and source.base.name == source.text:
                        self.emit(f"{t} += np.sum({source.text}[: {i.text} + 1])")
                scope.floats.append(t)
                return True
            case "np.dot" | "@ of vectors":
                if not vectors:
                    return False
                left = self.pick(*vectors)
                right = self.pick(*(v for v in vectors if v.key == left.key))
                text = f"{left.text} @ {right.text}"
                if form == "np.dot":
                    text = f"np.dot({left.text}, {right.text})"
                self.emit(f"{t} = {text}")
                scope.floats.append(t)
                return True
        if not matrices or not vectors:
            return False
        matrix = self.pick(*matrices)
        rows = [v for v in vectors if v.key == (matrix.key[0],)]
        columns = [v for v in vectors if v.key == (matrix.key[1],)]
        if form == "broadcast row":
            if not columns or not matrix.base.writable or matrix.text.endswith(".T"):
                return False
            op = self.pick("=", "+=", "*=")
            value = self.arrayed(scope, columns, 1)
            target = matrix.text
            if op == "=" and "[" not in target:
                target += "[:, :]"
            self.emit(f"{target} {op} {value}")
            return True
        if form == "@ with a matrix":
            if not columns:
                return False
            return self.assigned_rank1(
                scope, f"{matrix.text} @ {self.pick(*columns).text}", rows
            )
        axis = self.pick(0, 1)
        kept = columns if axis == 0 else rows
        return self.assigned_rank1(scope, f"np.sum({matrix.text}, axis={axis})", kept)

    def assigned_rank1(self, scope: Scope, value: str, like: list[View]) -> bool:
        """Add a vector to something of its size, or give it a name."""
        targets = [v for v in like if v.base.writable]
        if targets and self.chance(70):
            target = self.pick(*targets)
            op = self.pick("=", "+=")
            text = target.text if "[" in target.text else f"{target.text}[:]"
            self.emit(f"{text} {op} {value}")
            return True
        if not like or self.mixed:
            return False
        v = self.name("v")
        (key,), (size,) = like[0].key, like[0].size
        self.emit(f"{v} = {value}")
        scope.arrays[v] = Array(v, (Dim(f"{v}.shape[0]", size, size, key),))
        return True

    # ---------------------------------------------------------------- new arrays

    def view_statement(self, scope: Scope) -> bool:
        """A name for a row, a slice, every second element."""
        form = self.choose(
            [
                (4, "row view"),
                (3, "slice view"),
                (2, "strided slice view"),
                (2, "second name of an array"),
            ]
        )
        v = self.name("r")
        if not form:
            return False
        if form == "second name of an array":
            arrays = [a for a in scope.arrays.values() if a.is_float]
            if not arrays:
                return False
            a = self.pick(*arrays)
            self.emit(f"{v} = {a.name}")
            made = tuple(
                Dim(f"{v}.shape[{k}]", d.lo, d.hi, d.key) for k, d in enumerate(a.shape)
            )
        elif form == "row view":
            matrices = scope.of_rank(2)
            if not matrices:
                return False
            a = self.pick(*matrices)
            i = self.subscript(scope, a.shape[0])
            dim = a.shape[1]
            self.emit(f"{v} = {a.name}[{i}]")
            made = (Dim(f"{v}.shape[0]", dim.lo, dim.hi, dim.key),)
        else:
            vectors = [a for a in scope.of_rank(1) if a.shape[0].lo > 2]
            if not vectors:
                return False
            a = self.pick(*vectors)
            (dim,) = a.shape
            if form == "strided slice view":
                if self.chance(50):
                    text, lo, hi, key = "::-1", dim.lo, dim.hi, dim.key
                else:
                    text, lo, hi = "::2", (dim.lo + 1) // 2, (dim.hi + 1) // 2
                    key = f"{dim.key} by 2"
            else:
                text, cut = self.pick(("1:", 1), (":-1", 1), ("1:-1", 2), ("2:", 2))
                lo, hi, key = dim.lo - cut, dim.hi - cut, f"{dim.key} - {cut}"
                starts = [i for i in scope.indices if 0 <= i.lo and i.hi < dim.lo]
                if starts and self.chance(40):
                    start = self.pick(*starts)
                    text, lo, hi = (
                        f"{start.text}:",
                        dim.lo - start.hi,
                        dim.hi - start.lo,
                    )
                    key = f"{v}.shape[0]"
            self.emit(f"{v} = {a.name}[{text}]")
            made = (Dim(f"{v}.shape[0]", lo, hi, key),)
        self.use(form)
        scope.arrays[v] = Array(v, made, a.dtype, a.writable, root=a.base)
        return True

    def local_array(self, scope: Scope) -> bool:
        """A new array, by every creator, of a size known now or at run time."""
        v = self.name("v")
        arrays = [a for a in scope.arrays.values() if a.is_float]
        creator = self.choose(
            [
                (6, "np.zeros"),
                (3, "np.ones"),
                (4, "np.empty"),
                (3, "np.full"),
                (3 if arrays else 0, "np.zeros_like"),
                (2 if arrays else 0, "np.ones_like"),
                (2 if arrays else 0, "np.empty_like"),
                (2 if arrays else 0, "np.full_like"),
                (2, "np.array"),
                (3 if arrays else 0, "copy"),
                (2 if arrays else 0, "np.copy"),
                (2, "local integer array"),
            ]
        )
        if not creator:
            return False
        if scope.loops:
            self.use("local array in a loop")
        if creator == "np.array":
            items = [self.value(scope, 1) for _ in range(self.rng.randint(1, 4))]
            self.emit(f"{v} = np.array([{', '.join(f'1.0 * ({i})' for i in items)}])")
            size = len(items)
            scope.arrays[v] = Array(v, (Dim(str(size), size, size, str(size)),))
            self.use(creator)
            return True
        if creator == "local integer array":
            return self.integer_array(v, scope)
        if creator.endswith("_like") or creator in ("copy", "np.copy"):
            source = self.pick(*arrays)
            text = {
                "copy": f"{source.name}.copy()",
                "np.copy": f"np.copy({source.name})",
                "np.full_like": f"np.full_like({source.name}, {self.value(scope, 0)})",
            }.get(creator, f"{creator}({source.name})")
            shape = tuple(
                Dim(f"{v}.shape[{k}]", d.lo, d.hi, d.key)
                for k, d in enumerate(source.shape)
            )
            dtype = source.dtype
        else:
            dims = [self.extent(scope)]
            if self.want("local matrix", 25):
                dims.append(self.extent(scope))
                self.use("local matrix")
            texts = [d.text for d in dims]
            extents = texts[0] if len(dims) == 1 else f"({', '.join(texts)})"
            fill = ""
            if creator == "np.full":
                fill = f", 1.0 * {self.value(scope, 0)}"
            dtype, kind = "float64", ""
            if self.want("dtype=", 15):
                self.use("dtype=")
                dtype = "float32" if self.mixed and self.chance(50) else "float64"
                kind = f", dtype=np.{dtype}"
                if arrays and self.chance(30):
                    dtype = (other := self.pick(*arrays)).dtype
                    kind = f", dtype={other.name}.dtype"
            text = f"{creator}({extents}{fill}{kind})"
            shape = tuple(
                Dim(f"{v}.shape[{k}]", d.lo, d.hi, d.key) for k, d in enumerate(dims)
            )
        self.emit(f"{v} = {text}")
        array = Array(v, shape, dtype)
        if creator in ("np.empty", "np.empty_like"):
            self.fill(array, scope)
        scope.arrays[v] = array
        self.use(creator)
        return True

    def extent(self, scope: Scope) -> Dim:
        """How large an axis of a new array is."""
        known = [d for a in scope.arrays.values() for d in a.shape if d.lo > 0]
        options = [Dim("3", 3, 3, "3"), Dim("4", 4, 4, "4")]
        options += [Dim(d.text, d.lo, d.hi, d.key) for d in known[:4]] * 2
        if known:
            d = self.pick(*known)
            options.append(Dim(f"{d.text} + 2", d.lo + 2, d.hi + 2, f"{d.key} + 2"))
        running = [i for i in scope.indices + scope.integers if 0 <= i.lo]
        if running and self.want("local array of run-time size", 25):
            i = self.pick(*running)
            self.use("local array of run-time size")
            text = f"{i.text} + 1"
            return Dim(text, i.lo + 1, i.hi + 1, self.name("runtime"))
        return self.pick(*options)

    def fill(self, array: Array, scope: Scope) -> None:
        """Write every element, one way or another."""
        names = [self.name("c") for _ in array.shape]
        if self.want("whole-array assignment", 20):
            self.emit(f"{array.name}[:] = {self.value(scope, 1)}")
            self.use("whole-array assignment")
            return
        inner = scope.inner()
        for k, c in enumerate(names):
            self.emit(f"for {c} in range({array.name}.shape[{k}]):")
            inner.indices.append(Int(c, 0, max(0, array.shape[k].hi - 1), atom=True))
            self.indent += 1
        self.emit(f"{array.name}[{', '.join(names)}] = {self.value(inner, 1)}")
        self.indent -= len(names)

    def integer_array(self, v: str, scope: Scope) -> bool:
        """Integers of a local array: counters, labels, places."""
        dim = self.extent(scope)
        form = self.pick(
            "np.zeros({}, dtype=np.int64)", "np.full({}, 1)", "np.arange({})"
        )
        if form.startswith("np.arange"):
            form = "np.ones({}, dtype=np.int32)"
        self.emit(f"{v} = {form.format(dim.text)}")
        shape = (Dim(f"{v}.shape[0]", dim.lo, dim.hi, dim.key),)
        dtype = "int32" if "32" in form else "int64"
        scope.arrays[v] = Array(v, shape, dtype, lo=0, hi=3)
        self.use("local integer array", "integer array written")
        if dim.lo > 0:
            at = self.subscript(scope, shape[0])
            e = self.integer(scope)
            fits = 0 <= e.lo and e.hi <= 3
            self.emit(f"{v}[{at}] = {e.text if fits else f'({e.text}) % 4'}")
        return True
