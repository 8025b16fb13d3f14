"""ISL's loop trees and tests, read as statements and expressions of the IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyrev.ir.affine import COMPARISONS, comparison, in_order, plus, tidy
from pyrev.ir.nodes import Block, Call, Const, Expr, For, If, Var


class Unknown(Exception):
    """ISL ran out of its budget or met something it does not do."""


class Instance(NamedTuple):
    """One execution of statement `name`: its variables, and its target's subscripts."""

    name: str
    args: tuple[Expr, ...]
    target: tuple[Expr, ...]


class Reader:
    """Reads one loop tree.

    `names` are the loop indices of each statement by the dimension of its time, `arity`
    how many variables it has, and `leaf` makes what one execution of it is.
    """

    def __init__(
        self,
        isl: Any,
        params: Mapping[str, Expr],
        names: Mapping[str, Sequence[str]],
        arity: Mapping[str, int],
        leaf: Callable[[Instance], Block],
        order: tuple[str, ...],
    ) -> None:
        self.isl, self.params, self.names, self.leaf = isl, params, names, leaf
        self.arity, self.order = arity, order
        op = isl.ast_expr_op_type
        self.binary = {
            op.add: "+",
            op.sub: "-",
            op.mul: "*",
            op.eq: "==",
            op.le: "<=",
            op.lt: "<",
            op.ge: ">=",
            op.gt: ">",
            op.and_: "and",
            op.and_then: "and",
            op.or_: "or",
            op.or_else: "or",
            # fdiv_q floors, pdiv_* have a dividend >= 0, div is exact and zdiv_r is
            # only compared with 0: Python's floor operators are right for all of them.
            op.fdiv_q: "//",
            op.pdiv_q: "//",
            op.div: "//",
            op.pdiv_r: "%",
            op.zdiv_r: "%",
        }

    def block(self, node: Any, env: dict[str, Expr]) -> Block:
        """What a node runs; `env` says what ISL's iterators stand for."""
        kind, types = node.get_type(), self.isl.ast_node_type
        if kind == types.for_:
            return self.loop(node, env)
        if kind == types.if_:
            order = (*self.order, *self.variables(env))
            test = in_order(self.expr(node.if_get_cond(), env), order)
            then = self.block(node.if_get_then_node(), env)
            orelse: Block = ()
            if node.if_has_else_node():
                orelse = self.block(node.if_get_else_node(), env)
            return (If(test, then, orelse),)
        if kind == types.block:
            children = node.block_get_children()
            return tuple(
                s
                for k in range(children.n_ast_node())
                for s in self.block(children.get_at(k), env)
            )
        if kind == types.mark:
            return self.block(node.mark_get_node(), env)
        return self.user(node, env)

    def loop(self, node: Any, env: dict[str, Expr]) -> Block:
        """A loop over one time; one of a single iteration is none."""
        iterator = node.for_get_iterator().get_id().get_name()
        lo = self.expr(node.for_get_init(), env)
        if node.for_is_degenerate():
            return self.block(node.for_get_body(), {**env, iterator: lo})
        depth = int(iterator[1:])
        name = self.names[self.first(node.for_get_body())][depth]
        inner = {**env, iterator: Var(name)}
        order = (*self.order, *self.variables(inner))
        condition = node.for_get_cond()
        hi = self.expr(condition.op_get_arg(1), env)
        if condition.op_get_type() == self.isl.ast_expr_op_type.le:
            hi = plus(hi, 1, order)
        step = self.expr(node.for_get_inc(), env)
        body = self.block(node.for_get_body(), inner)
        return (For(name, tidy(lo, order), tidy(hi, order), step, body),)

    def variables(self, env: Mapping[str, Expr]) -> list[str]:
        """The indices of the loops around, outermost first."""
        return [e.name for e in env.values() if isinstance(e, Var)]

    def first(self, node: Any) -> str:
        """The name of the first statement below `node`."""
        kind, types = node.get_type(), self.isl.ast_node_type
        if kind == types.for_:
            return self.first(node.for_get_body())
        if kind == types.if_:
            return self.first(node.if_get_then_node())
        if kind == types.block:
            return self.first(node.block_get_children().get_at(0))
        if kind == types.mark:
            return self.first(node.mark_get_node())
        return str(node.user_get_expr().op_get_arg(0).get_id().get_name())

    def user(self, node: Any, env: dict[str, Expr]) -> Block:
        """One execution of a statement."""
        call = node.user_get_expr()
        name = str(call.op_get_arg(0).get_id().get_name())
        order = (*self.order, *self.variables(env))
        args = tuple(
            tidy(self.expr(call.op_get_arg(k), env), order)
            for k in range(1, call.op_get_n_arg())
        )
        arity = self.arity[name]
        target = tuple(
            env[f"c{k}"] if isinstance(env.get(f"c{k}"), Var) else arg
            for k, arg in enumerate(args[arity:])
        )
        return self.leaf(Instance(name, args[:arity], target))

    def expr(self, e: Any, env: Mapping[str, Expr]) -> Expr:
        """An expression of ISL's as one of the IR, tidied."""
        kinds, ops = self.isl.ast_expr_type, self.isl.ast_expr_op_type
        kind = e.get_type()
        if kind == kinds.id:
            name = str(e.get_id().get_name())
            return env[name] if name in env else self.params[name]
        if kind == kinds.int:
            return Const(int(e.get_val().to_python()))
        op = e.op_get_type()
        args = tuple(self.expr(e.op_get_arg(k), env) for k in range(e.op_get_n_arg()))
        order = (*self.order, *self.variables(env))
        if op in self.binary:
            name = self.binary[op]
            if name in COMPARISONS:
                return comparison(name, args[0], args[1], order)
            return self.fold(Call(name, args), order)
        if op == ops.minus:
            return tidy(Call("neg", args), order)
        if op in (ops.min, ops.max):
            name = "min" if op == ops.min else "max"
            folded = args[0]
            for a in args[1:]:
                folded = Call(name, (folded, a))
            return folded
        if op in (ops.cond, ops.select):
            return Call("where", args)
        raise Unknown(f"ISL printed {e}")

    def fold(self, e: Call, order: Sequence[str]) -> Expr:
        """`e` with its numbers added up, if it is arithmetic."""
        return tidy(e, order) if e.op in ("+", "-", "*", "//") else e
