"""Which queries the planner leaves to Spark: those with a construct that only Spark computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from tvfsql.syntax import ast
from tvfsql.syntax.queries.semi_joins import MatchTree, matches_of
from tvfsql.syntax.queries.sources import as_of, is_plain, is_unnest, kind_of

PLAIN_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "hint", "kind"}
AROUND = {"with_", "order", "limit", "offset"}  # clauses that surround the body of a query
RANKS = {exp.RowNumber: "ROW_NUMBER", exp.Rank: "RANK", exp.DenseRank: "DENSE_RANK"}
SET_KINDS = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}
CONSTRUCTS = (
    (exp.Window, ast.OVER),
    (exp.Query, ast.SUBQUERY),
    (exp.UDTF, "a table function"),
    (exp.Placeholder, "a placeholder"),
)
Reason = tuple[str, exp.Expr]  # why, and the tree of the construct


def left_to_spark(tree: exp.Expr, over: exp.Window | None = None, matches: Sequence[MatchTree] = ()) -> Reason | None:
    """Why the planner leaves this query to Spark; None if it can plan the query, given `over` and `matches`."""
    found = None
    if isinstance(tree, exp.Select):
        found = _in_select(tree, over)
    elif type(tree) in SET_KINDS and (tree.args.get("by_name") or tree.args.get("side")):
        found = "a set operation by name", tree
    return found or _in_scalars(tree, [over] if over else (), [match.whole for match in matches])


def is_of_windows(tree: exp.Select) -> bool:
    """Whether a ranking function, EXISTS and IN are the only constructs in the SELECT that the planner may have to
    leave to Spark.
    """
    over, matches = ranking(tree), matches_of(tree)
    return bool(over or matches) and left_to_spark(tree, over, matches) is None


def with_frames(tree: exp.Select) -> exp.Select | None:
    """The SELECT with the windows of its WINDOW clause in place of their names, if functions with OVER in its items are
    the only constructs that the planner may have to leave to Spark; None if there are others.
    """
    if any(tree.args.get(key) for key in ("group", "having", "qualify", "distinct")):
        return None
    made = tree.copy()
    known = named_windows(made)
    made.set("windows", None)
    calls = [*frames_of(made)]
    if any(call.alias and call.alias.lower() not in known for call in calls):
        return None
    for call in calls:
        write_out(call, known)
    return made if calls and _in_select(made, None) is None and _in_scalars(made, calls, ()) is None else None


def named_windows(tree: exp.Select) -> dict[str, exp.Window]:
    """The windows of the WINDOW clause by name, in lower case. Those that refine another one are written out."""
    known = dict[str, exp.Window]()
    for one in tree.args.get("windows") or ():
        write_out(one, known)
        known[one.name.lower()] = one
    return known


def write_out(call: exp.Window, known: Mapping[str, exp.Window]) -> None:
    """Put what a named window says into a window that names it."""
    named = known.get(call.alias.lower())
    if named is None:
        return
    for key in ("partition_by", "order", "spec"):
        part = None if call.args.get(key) else named.args.get(key)
        if part:
            call.set(key, [one.copy() for one in part] if isinstance(part, list) else part.copy())
    call.set("alias", None)


def frames_of(tree: exp.Select) -> Iterator[exp.Window]:
    """The functions with OVER in the items of a SELECT."""
    for item in tree.expressions:
        yield from item.find_all(exp.Window)


def ranking(tree: exp.Select) -> exp.Window | None:
    """The ranking function of a SELECT, if it has exactly one.

    It may occur several times, but not in WHERE, GROUP BY or HAVING, which are evaluated before it.
    """
    after = [*tree.expressions, tree.args.get("qualify"), tree.args.get("order")]
    found = {node for part in after if part for node in part.find_all(exp.Window)}
    if len(found) != 1:
        return None
    over = found.pop()
    own = {key for key, value in over.args.items() if value} <= {"this", "partition_by", "order", "over"}
    whole = type(over.this) in RANKS and not over.this.expressions and over.args.get("order") is not None
    return over if own and whole else None


def _in_select(tree: exp.Select, over: exp.Window | None) -> Reason | None:
    present = {key for key, value in tree.args.items() if value} - ({"qualify"} if over else set())
    if odd := sorted(present - PLAIN_CLAUSES - AROUND):
        return f"a clause of Spark's own ({odd[0].upper().strip('_')})", _first(tree.args[odd[0]], tree)
    if tree.args.get("kind") or (tree.args.get("distinct") and tree.args["distinct"].args.get("on")):
        return "a SELECT of Spark's own kind", tree
    group = tree.args.get("group")
    if group and {key for key, value in group.args.items() if value} - {"expressions"}:
        return "a GROUP BY of Spark's own kind", group
    joins: list[exp.Join] = tree.args.get("joins") or []
    sources = [as_of(join.this)[0] for join in joins]
    sources += [tree.args["from_"].this] if tree.args.get("from_") else []
    for source in sources:
        if not is_plain(source) and not (is_unnest(source) and isinstance(source.parent, exp.Join)):
            return "a table of Spark's own kind", source
    odd_join = next((join for join in joins if kind_of(join) is None), None)
    return ("a join of Spark's own kind", odd_join) if odd_join else None


def _in_scalars(tree: exp.Expr, overs: Sequence[exp.Window], besides: Sequence[exp.Expr]) -> Reason | None:
    for node in _scalars(tree, besides):
        for kind, reason in CONSTRUCTS:
            if isinstance(node, kind) and node not in overs:
                return reason, node
    return None


def _scalars(tree: exp.Expr, besides: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """Every node of the tree's own scalar expressions, without those of its tables, set operation sides and CTEs, and
    without what is below `besides`.
    """
    for key, value in tree.args.items():
        if key in ("from_", "with_", "this", "expression") and isinstance(tree, exp.Query):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, exp.Join):
                child = child.args.get("on")
            if isinstance(child, exp.Expr):
                yield from child.walk(prune=lambda node: any(node is each for each in besides))


def _first(value: Any, otherwise: exp.Expr) -> exp.Expr:
    """The tree of an argument, or the first of its list."""
    found = value[0] if isinstance(value, list) else value
    return found if isinstance(found, exp.Expr) else otherwise
