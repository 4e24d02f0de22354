"""The parts that several INSERTs of a statement set have in common, and those that one query reads repeatedly.

The former (Shared) are found before rules run, because each INSERT is planned separately; the latter (CommonPart) by a
rule, after conditions have moved into them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan import nodes
from tvfsql.plan.joins import TemporalJoin
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.rank import Rank
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowTableFunction

# Operators that reduce the number of rows, whose result is worth keeping. Reading a table twice is cheaper than keeping
# its rows.
GATHERING = (nodes.Aggregate, nodes.Distinct, Rank, nodes.Limit, nodes.SparkSql)


@dataclass(frozen=True)
class Shared(Node):
    """Rows that several plans read and that are computed once. Rules move nothing through it, because all plans share
    its input.
    """

    input: Node
    number: int

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "reuse_id", str(self.number)


@dataclass(frozen=True)
class CommonPart(Node):
    """Rows that several operators of one query read, and that are computed once. It is one object in the plan, with
    several operators above it.
    """

    input: Node
    number: int

    operator = "Shared"

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "reuse_id", str(self.number)


@dataclass(frozen=True)
class Source:
    """A plan that is not a child of the operator that holds it, so that it is neither printed nor walked again."""

    plan: Node


@dataclass(frozen=True)
class Reused(Node):
    """The rows of a Shared that occurs in an earlier plan, or of a CommonPart that occurs before in this one."""

    of: Source
    number: int

    @cached_property
    def schema(self) -> Schema:
        return self.of.plan.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "reference_id", str(self.number)


def share(plans: Sequence[Node]) -> list[Node]:
    """Return the plans with a Shared above each part that several of them have and that is worth keeping.

    The largest parts are shared; smaller parts of them only if further plans have these. A part that reads a table
    which one of the plans writes is not shared, because it would be read too early.
    """
    written = tables_written(plans)
    readers: dict[Node, set[int]] = {}
    for i, plan in enumerate(plans):
        for node in plan.walk():
            readers.setdefault(node, set()).add(i)
    numbers: dict[Node, int] = {}

    def visit(node: Node, known: int) -> Node:
        count = len(readers[node])
        if count <= max(known, 1) or not _gathers(node) or tables_read(node) & written:
            return node.over(lambda child: visit(child, known))
        number = numbers.setdefault(node, len(numbers) + 1)
        return Shared(node.over(lambda child: visit(child, count)), number)

    return [visit(plan, 0) for plan in plans]


def trunks(plan: Node) -> tuple[Node, ...]:
    """The parts of a plan that all its rows pass through, the plan itself first. Both sides of a UNION ALL may have
    one.
    """
    first, *others = [trunks(child) for child in plan.children] or [()]
    return (plan, *(part for part in first if all(part in other for other in others)))


def of_shared(node: Node) -> bool:
    """Whether all rows of an operator come from one Shared."""
    return any(isinstance(part, Shared) for part in trunks(node))


def common_trunks(plans: Sequence[Node]) -> list[Node]:
    """The trunks that one stream could compute for several plans: those that keep state and read no table that the
    plans write. Trunks of the most plans come first; of these, the largest.
    """
    written = tables_written(plans)
    counts = Counter(part for plan in plans for part in trunks(plan) if not isinstance(part, nodes.Sink))
    several = (part for part, n in counts.items() if n > 1 and _keeps_state(part) and not tables_read(part) & written)
    return sorted(several, key=lambda part: -counts[part])


def over_shared(plan: Node, part: Node, number: int) -> Node:
    """Return the plan with a Shared above each occurrence of `part`."""
    return Shared(part, number) if plan == part else plan.over(lambda child: over_shared(child, part, number))


def told_once(plans: Sequence[Node]) -> list[Node]:
    """Return the plans with a Reused in place of each Shared that occurred before."""
    met: dict[int, tuple[Node, Node]] = {}
    return [_told_once(plan, Shared, met) for plan in plans]


def as_tree(plan: Node) -> Node:
    """Return the plan with a Reused in place of each CommonPart that occurred before."""
    return _told_once(plan, CommonPart, {})


def _told_once(plan: Node, kind: type[Shared] | type[CommonPart], met: dict[int, tuple[Node, Node]]) -> Node:
    """`met`: the parts that occurred before, by number, each as it was and as it is returned."""
    if not isinstance(plan, kind):
        return plan.over(lambda child: _told_once(child, kind, met))
    if plan.number not in met:
        met[plan.number] = plan, plan.over(lambda child: _told_once(child, kind, met))
        return met[plan.number][1]
    before, told = met[plan.number]
    assert plan == before, f"two parts have the number {plan.number}"
    return Reused(Source(told), plan.number)


def by_itself(plan: Node) -> Node:
    """Return the plan without what is below each Shared."""
    return plan.transform(lambda node: Reused(Source(node), node.number) if isinstance(node, Shared) else node)


def shared_by(plans: Sequence[Node]) -> list[Node]:
    """The distinct plans below a Shared, in the order of their first occurrence."""
    found: dict[Node, None] = {}
    met: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) in met:
            return
        met.add(id(node))
        if isinstance(node, Reused):
            visit(node.of.plan)
        if isinstance(node, Shared):
            found.setdefault(node.input)
        for child in node.children:
            visit(child)

    for plan in plans:
        visit(plan)
    return [*found]


def tables_written(plans: Sequence[Node]) -> set[str]:
    """The tables that plans write."""
    return {node.table for plan in plans for node in plan.walk() if isinstance(node, nodes.Sink)}


def tables_read(node: Node) -> set[str]:
    """The tables that an operator reads."""
    return {part.table for part in node.walk() if isinstance(part, nodes.Scan)}


def _gathers(node: Node) -> bool:
    return any(isinstance(part, GATHERING) for part in node.walk())


def _keeps_state(node: Node) -> bool:
    """Whether a stream buffers rows for it, until windows end or partners arrive."""
    sessions = (isinstance(part, WindowTableFunction) and isinstance(part.window, Session) for part in node.walk())
    return _gathers(node) or any(isinstance(part, nodes.Join | TemporalJoin) for part in node.walk()) or any(sessions)
