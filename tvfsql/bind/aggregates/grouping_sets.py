"""GROUPING SETS in plans: the keys that a set lacks, the Expand that makes them NULL, and the value of GROUPING()."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.errors import BindError, Span
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand

NUMBERS = (exp.Grouping, exp.GroupingId)  # GROUPING and GROUPING_ID are the same, as in Flink


@dataclass(frozen=True)
class GroupingSets:
    """`keys` are the keys that some set lacks. `sets` numbers each set as `plan.nodes.Expand` does.

    `id` is the column that identifies a row's set; "" if there is only one set.
    """

    keys: tuple[str, ...] = ()
    sets: tuple[int, ...] = (0,)
    id: str = ""

    @classmethod
    def of(cls, sets: Sequence[Sequence[str]], id: str) -> GroupingSets:
        """Number the sets of a GROUP BY, each given by all of its keys. A repeated set repeats its groups."""
        every = tuple(dict.fromkeys(key for each in sets for key in each))
        keys = tuple(key for key in every if not all(key in each for each in sets))
        seen: Counter[int] = Counter()
        numbers: list[int] = []
        for each in sets:
            lacking = sum(1 << at for at, key in enumerate(reversed(keys)) if key not in each)
            numbers.append(lacking + (seen[lacking] << len(keys)))
            seen[lacking] += 1
        return cls(keys, tuple(numbers), id)

    def expanded(self, source: Node) -> Node:
        return Expand(source, self.keys, self.sets, self.id) if self.id_needed else source

    @property
    def id_needed(self) -> bool:
        return len(self.sets) > 1

    def value(self, call: exp.Expr, names: dict[exp.Expr, exp.Expr], span: Span) -> exp.Expr:
        """Return GROUPING, GROUPING_ID or GROUP_ID as an expression over `id`; `names` has the keys of the GROUP BY.

        GROUPING_ID(a, b) has a bit for each argument, the last one lowest: 1 if the row's set lacks the key. GROUP_ID()
        numbers sets with the same keys from 0. Raises BindError for an argument that is not a key.
        """
        if not isinstance(call, NUMBERS):
            return self._bits(len(self.keys), None)
        arguments = call.expressions
        if not arguments:
            name = call.sql_name()
            raise BindError(f"{name} needs a key of GROUP BY", span=span, hint=f"{name}(key)")
        positions: list[int | None] = []
        for argument in arguments:
            key = names.get(argument) or names.get(argument.unnest())
            if key is None:
                raise BindError(
                    f"{argument.name or argument.sql(dialect='spark')} is not a key of GROUP BY",
                    span=scalar.place_of(argument, span),
                    hint="GROUPING and GROUPING_ID take a key of GROUPING SETS, CUBE or ROLLUP",
                )
            lowest_first = self.keys[::-1]
            positions.append(lowest_first.index(key.name) if key.name in lowest_first else None)
        first, count = positions[-1], len(positions)
        if first is not None and positions == [first + i for i in reversed(range(count))]:
            return self._bits(first, count)
        whole: exp.Expr | None = None
        for at, position in enumerate(reversed(positions)):
            if position is None:
                continue
            bit = self._bits(position, 1)
            bit = exp.paren(bit) if isinstance(bit, exp.BitwiseAnd) else bit
            term = exp.Mul(this=bit, expression=_number(1 << at)) if at else bit
            whole = exp.Add(this=term, expression=whole) if whole else term
        return whole.unnest() if whole else _zero()

    def _bits(self, first: int, count: int | None) -> exp.Expr:
        """The number made of `count` bits of `id` from bit `first` on; None: of all higher bits."""
        highest = max(self.sets).bit_length()
        if not self.id_needed or first >= highest:
            return _zero()
        tree: exp.Expr = exp.column(exp.to_identifier(self.id, quoted=True))
        if first:
            tree = exp.BitwiseRightShift(this=tree, expression=_number(first))
        if count is not None and first + count < highest:
            tree = exp.BitwiseAnd(this=tree, expression=_number((1 << count) - 1))
        return tree


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _zero() -> exp.Expr:
    return exp.cast(_number(0), "bigint")
