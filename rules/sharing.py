"""Parts of a plan that several operators read are computed once."""

from __future__ import annotations

from collections import Counter
from itertools import count

from tvfsql.options import Options
from tvfsql.options.known import REUSE
from tvfsql.plan import nodes
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.analysis.sharing import CommonPart, Shared
from tvfsql.plan.node import Node, instances
from tvfsql.plan.nodes import Project
from tvfsql.plan.rank import Deduplicate, Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window_nodes import WindowAggregate
from tvfsql.planner import plan_rule
from tvfsql.rules.projection import narrow, passing

# Operators that reduce the number of rows. What reads tables without them costs less to compute twice than to keep.
GATHERING = (nodes.Aggregate, nodes.Distinct, Deduplicate, Rank, WindowAggregate, WindowDeduplicate, WindowTopN)


@plan_rule
def share_equal_parts(plan: Node, options: Options) -> Node | None:
    """In batch, compute once what several operators of a query read.

    Before:
      WindowJoin(leftWindow=[w], rightWindow=[w], joinType=[InnerJoin], where=[true])
      :- WindowAggregate(groupBy=[item], window=[w], select=[item, COUNT(*) AS n, start('w$), end('w$)])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, total])
         +- Aggregate(groupBy=[window_start, window_end], select=[window_start, window_end, SUM(n) AS total])
            +- WindowAggregate(groupBy=[item], window=[w], select=[item, COUNT(*) AS n, start('w$), end('w$)])
    After:
      WindowJoin(leftWindow=[w], rightWindow=[w], joinType=[InnerJoin], where=[true])
      :- Shared(reuse_id=[1])
      :  +- WindowAggregate(groupBy=[item], window=[w], select=[item, COUNT(*) AS n, start('w$), end('w$)])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, total])
         +- Aggregate(groupBy=[window_start, window_end], select=[window_start, window_end, SUM(n) AS total])
            +- Reused(reference_id=[1])

    Reason: Spark makes windows from slices once for each operator that reads them. A CTE of joins over the one before
    doubles with each: ten of them were 512 scans.

    Holds because equal plans have the same rows. Conditions have moved into each reading before, so readings with
    different conditions are different parts. Does not apply
    - to parts without an aggregate, a rank, a DISTINCT or a deduplication: reading a table twice is cheaper than
      keeping its rows;
    - to expressions whose value can differ between two evaluations, such as RAND(), and to queries that Spark plans
      itself, which may have such;
    - to changes, and within what the INSERTs of a set share already;
    - on streams, and with table.optimizer.reuse-sub-plan-enabled = false.
    """
    if options.streaming or not options[REUSE] or any(isinstance(node, CommonPart) for node in plan.walk()):
        return None
    whole = _interned(plan)
    operators = [*operators_outside_shared(whole)]
    readers = Counter(id(child) for node in operators for child in node.children)
    common = [node for node in operators if readers[id(node)] > 1 and _is_worth_keeping(node)]
    first = max((node.number for node in whole.walk() if isinstance(node, Shared)), default=0) + 1
    numbers = dict(zip(map(id, common), count(first), strict=False))
    made: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in made:
            new = node if isinstance(node, Shared) else node.over(visit)
            made[id(node)] = CommonPart(new, numbers[id(node)]) if id(node) in numbers else new
        return made[id(node)]

    return visit(whole) if common else None


@plan_rule
def narrow_common_parts(plan: Node, options: Options) -> Node | None:
    """Compute only the columns of a common part that one of its readers uses.

    Before:
      WindowJoin(...)
      :- Project(select=[window_start, window_end, n])
      :  +- Shared(reuse_id=[1])
      :     +- WindowAggregate(groupBy=[item], window=[w], select=[item, COUNT(*) AS n, SUM(price) AS s, ...])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, n AS n0])
         +- Reused(reference_id=[1])
    After:
      WindowJoin(...)
      :- Project(select=[window_start, window_end, n])
      :  +- Shared(reuse_id=[1])
      :     +- WindowAggregate(groupBy=[item], window=[w], select=[item, COUNT(*) AS n, ...])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, n AS n0])
         +- Reused(reference_id=[1])

    Holds because a column that no operator above reads does not affect the result (prune_columns). Does not apply if
    a reader is anything but a projection, as that may need all columns.
    """
    needed: dict[int, set[str]] = {}
    for node in plan.walk():
        for part in node.children:
            if isinstance(part, CommonPart):
                read = node.items if isinstance(node, Project) else passing(part.columns, part)
                needed.setdefault(part.number, set()).update(name for item in read for name in item.scalar.columns)
    made: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in made:
            new = node
            if isinstance(node, CommonPart):
                source = _narrowed(node.input, frozenset(needed[node.number]))
                new = node if source is node.input else CommonPart(source, node.number)
            made[id(node)] = new.over(visit)
        return made[id(node)]

    narrowed = visit(plan)
    return None if narrowed == plan else narrowed


def _narrowed(node: Node, wanted: frozenset[str]) -> Node:
    source = narrow(node, wanted)
    kept = tuple(name for name in source.columns if name in wanted) or source.columns[:1]
    return source if kept == source.columns else Project(source, passing(kept, source))


def _interned(plan: Node) -> Node:
    """The plan with one object for all parts that are equal."""
    known: dict[Node, Node] = {}
    return plan.transform(lambda node: known.setdefault(node, node))


def operators_outside_shared(plan: Node) -> list[Node]:
    """The operators that no Shared is above."""
    met: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) not in met:
            met[id(node)] = node
            for child in () if isinstance(node, Shared) else node.children:
                visit(child)

    visit(plan)
    return [*met.values()]


def _is_worth_keeping(node: Node) -> bool:
    parts = [*node.walk()]
    if not any(isinstance(part, GATHERING) for part in parts) or isinstance(node, Shared):
        return False
    if any(isinstance(part, nodes.SparkSql) for part in parts) or is_changelog(node):
        return False
    return all(scalar.deterministic for scalar in instances(node, Scalar))
