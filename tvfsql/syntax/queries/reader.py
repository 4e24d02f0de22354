"""Standard SQL, parsed by sqlglot: turns queries and scalar expressions into nodes of `ast`.

sqlglot does not see window calls: the parser has replaced each by a quoted placeholder of the same length, so every
position stays right. A placeholder is a table, or a column for a group window's call.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax import ast
from tvfsql.syntax.checks import refuse_misread
from tvfsql.syntax.databases import current
from tvfsql.syntax.places import span_of
from tvfsql.syntax.queries.group_windows import QUALIFIER, modern, refuse_left_over
from tvfsql.syntax.queries.grouping import key_sets
from tvfsql.syntax.queries.semi_joins import MatchTree, matches_of, without
from tvfsql.syntax.queries.sources import as_of, is_natural, is_plain, is_unnest, kind_of, without_parentheses
from tvfsql.syntax.queries.sparks_own import (
    AROUND,
    RANKS,
    SET_KINDS,
    frames_of,
    is_of_windows,
    left_to_spark,
    ranking,
    with_frames,
)
from tvfsql.syntax.queries.trees import select_of, tree_of
from tvfsql.syntax.tokens import tokens_of

Matched = tuple[ast.MatchRecognize, ast.Alias | None]
OF_UNKNOWN = "UNNEST of an array whose type is not certain"  # why Spark plans a query
PARAMETERS = ("self", "sqlQuery", "args")  # parameters of spark.sql()


def parse_query(
    text: str,
    windows: Mapping[str, ast.WindowCall],
    groups: Mapping[str, ast.WindowCall],
    span: Span,
    matches: Mapping[str, Matched] | None = None,
) -> ast.Query:
    """The query whose text is at `span`.

    `windows` are the calls of window functions, and `groups` those of group windows, by placeholder. `matches` are
    MATCH_RECOGNIZE clauses, with the alias behind each, by the placeholder that is the alias of their table.
    """
    reader = _Reader(" " * span.start + text, windows, groups, span, matches or {})
    made = replace(reader.query(tree_of(text, span, exp.Query)), span=span)
    for name, (clause, _) in reader.matches.items():
        if name not in reader.matched:
            raise UnsupportedError("MATCH_RECOGNIZE stands behind a table or a query in FROM", span=clause.span)
    return made


def parse_scalar(text: str, span: Span) -> ast.Expr:
    """The scalar expression whose text is at `span`."""
    refuse_misread(tokens_of(" " * span.start + text, Span(span.start, span.start + len(text))))
    return ast.Expr(tree_of(text, span, exp.Expr), span, text)


def _argument_names(base: str) -> Iterator[str]:
    """Names like `base` that can be an argument of Python's spark.sql(), the best first."""
    if not keyword.iskeyword(base) and base not in PARAMETERS:
        yield base
    yield from (f"{base}_{i}" for i in count(2))


class _Reader:
    """Turns sqlglot's trees into `ast` nodes."""

    def __init__(
        self,
        text: str,
        windows: Mapping[str, ast.WindowCall],
        groups: Mapping[str, ast.WindowCall],
        span: Span,
        matches: Mapping[str, Matched],
    ) -> None:
        self.text = text
        self.matches = matches
        self.matched: set[str] = set()  # those that a relation has
        self.windows = dict(windows)
        self.groups = groups
        self.span = span

    def query(self, tree: exp.Expr) -> ast.Query:
        found = modern(tree, self.groups) if isinstance(tree, exp.Select) else None
        if not isinstance(tree, exp.Select) or found is None:
            return self._query(tree)
        group = found.group
        where = self._expr(found.where) if found.where else None
        source = ast.Input(self._sources(tree), group.partition_by, where=where, span=group.call.span)
        arguments = (ast.Argument(None, source, source.span), *group.call.arguments)
        self.windows[found.over] = replace(group.call, arguments=arguments)
        return replace(self._query(found.tree), group_window=group)

    def _query(self, tree: exp.Expr) -> ast.Query:
        around = {key: tree.args.get(key) for key in AROUND}
        body: ast.Select | ast.SetOperation | ast.MaybeOrdinary | ast.Ordinary | ast.Query
        limit, offset = self._number(around["limit"]), self._number(around["offset"])
        limited = span_of(around["limit"] or around["offset"] or tree, self.span)
        found = self._left_to_spark(tree) or (("a computed LIMIT", limited) if None in (limit, offset) else None)
        reason, because = found or (None, self.span)
        ctes = tuple(self._ctes(around["with_"]))
        if isinstance(tree, exp.Subquery) and not tree.args.get("alias"):
            body = self.query(tree.this)
        elif reason is None and isinstance(tree, exp.Select):
            body = self._select(tree)
            if unnest := next(filter(is_unnest, (join.this for join in tree.args.get("joins") or ())), None):
                body = ast.MaybeOrdinary(body, self._ordinary(tree, OF_UNKNOWN, span_of(unnest, self.span)))
        elif reason and isinstance(tree, exp.Select) and is_of_windows(tree) and None not in (limit, offset):
            if over := ranking(tree):
                reason, because = ast.OVER, span_of(over, self.span)
            body = ast.MaybeOrdinary(self._select(tree), self._ordinary(tree, reason, because))
        elif reason and isinstance(tree, exp.Select) and (framed := with_frames(tree)) and None not in (limit, offset):
            frames = tuple(map(self._expr, dict.fromkeys(frames_of(framed))))
            select = replace(self._select(framed), over=None, frames=frames)
            reason, because = ast.OVER, span_of(next(frames_of(tree)), self.span)
            try:
                body = ast.MaybeOrdinary(select, self._ordinary(tree, reason, because))
            except UnsupportedError as refusal:  # Spark has no temporal joins, for example
                body = ast.MaybeOrdinary(select, refusal)
        elif reason is None and type(tree) in SET_KINDS:
            kind: str = SET_KINDS[type(tree)]  # type: ignore[index]
            left, right = self.query(tree.this), self.query(tree.expression)
            body = ast.SetOperation(
                kind, not tree.args.get("distinct"), left, right, self._between(kind, tree.this, tree.expression)
            )
        else:
            body = self._ordinary(tree, reason or "a query of Spark's own", because)
            return ast.Query(body, ctes, span=self.span)
        order = tuple(self._order(item) for item in around["order"].expressions) if around["order"] else ()
        limit = limit if around["limit"] else None
        return ast.Query(body, ctes, order, limit, offset or 0, span_of(tree, self.span), limited)

    def _between(self, kind: str, left: exp.Expr, right: exp.Expr) -> Span:
        """The span of UNION, INTERSECT or EXCEPT between its sides."""
        start, end = span_of(left, self.span).end, span_of(right, self.span).start
        words = re.compile(rf"\b{kind}\b(\s+(all|distinct)\b)?", re.IGNORECASE).search(self.text, start, end)
        return Span(*words.span()) if words else Span(start, end)

    def _left_to_spark(self, tree: exp.Expr) -> tuple[str, Span] | None:
        found = left_to_spark(tree)
        return (found[0], span_of(found[1], self.span)) if found else None

    def _select(self, tree: exp.Select) -> ast.Select:
        relation = self._sources(tree) if tree.args.get("from_") else None
        where, having, group, qualify = (tree.args.get(key) for key in ("where", "having", "group", "qualify"))
        over = ranking(tree)
        matches = matches_of(tree)
        rest = without(where.this, matches) if where else None
        keys, sets = key_sets(group.expressions if group else (), span_of(group or tree, self.span))
        return ast.Select(
            tuple(self._item(item) for item in tree.expressions),
            relation,
            self._expr(rest) if rest else None,
            tuple(map(self._expr, keys)),
            self._expr(having.this) if having else None,
            bool(tree.args.get("distinct")),
            tuple(ast.KeySet(tuple(map(self._expr, each))) for each in sets),
            span_of(tree, self.span),
            self._over(over) if over else None,
            self._expr(qualify.this) if qualify else None,
            tuple(map(self._match, matches)),
        )

    def _match(self, match: MatchTree) -> ast.Match:
        operands = tuple(map(self._expr, match.operands))
        return ast.Match(self.query(match.query), operands, match.negated, span_of(match.whole, self.span))

    def _sources(self, tree: exp.Select) -> ast.Relation:
        """The relation in FROM."""
        relation = self._relation(tree.args["from_"].this)
        for join in tree.args.get("joins") or ():
            relation = self._join(relation, join)
        return relation

    def _over(self, tree: exp.Window) -> ast.Over:
        return ast.Over(
            RANKS[type(tree.this)],
            tuple(map(self._expr, tree.args.get("partition_by") or ())),
            tuple(map(self._order, tree.args["order"].expressions)),
            self._expr(tree),
        )

    def _item(self, tree: exp.Expr) -> ast.SelectItem:
        span = span_of(tree, self.span)
        star = tree.this if isinstance(tree, exp.Column) else tree
        if isinstance(star, exp.Star):
            if any(star.args.get(key) for key in ("except_", "replace", "rename", "except")):
                raise UnsupportedError("* EXCEPT is not supported", span=span, hint="list the columns")
            table = tree.table if isinstance(tree, exp.Column) else None
            return ast.SelectItem(None, table=table, span=span)
        if isinstance(tree, exp.Alias):
            alias = tree.args["alias"]
            name = ast.Name(alias.name, span_of(alias, span))
            return ast.SelectItem(self._expr(tree.this), name, span=span)
        return ast.SelectItem(self._expr(tree), span=span)

    def _relation(self, tree: exp.Expr) -> ast.Relation:
        tree = without_parentheses(tree)
        span = span_of(tree, self.span)
        alias = tree.args.get("alias")
        if alias and alias.name in self.matches:
            clause, own = self.matches[alias.name]
            self.matched.add(alias.name)
            bare = tree.copy()
            bare.set("alias", None)
            return ast.MatchTable(self._relation(bare), clause, own, clause.span)
        named = (
            ast.Alias(alias.name, tuple(column.name for column in alias.args.get("columns") or ())) if alias else None
        )
        if is_unnest(tree):
            return self._unnested(tree, named, span)
        if isinstance(tree, exp.Values):
            return ast.Derived(ast.Query(self._ordinary(select_of(tree), "VALUES", span), span=span), named, span)
        if isinstance(tree, exp.Subquery):
            return ast.Derived(self.query(tree.this), named, span)
        assert isinstance(tree, exp.Table), tree
        if version := tree.args.get("version"):
            raise UnsupportedError(
                "FOR SYSTEM_TIME AS OF is not supported here",
                span=span_of(version, span),
                hint="FROM o JOIN t FOR SYSTEM_TIME AS OF o.proc AS t ON o.k = t.k, in a subquery of its own",
            )
        before = [tree.args.get(key) for key in ("catalog", "db")]
        if "" in before:  # sqlglot parses two dots this way
            raise SqlSyntaxError("a name is missing between two dots", span=span, hint=tree.name)
        if tree.name in self.windows:
            call = self.windows[tree.name]
            return ast.WindowTable(call, named, call.span)
        parts = [ast.Name(part.name, span_of(part, span)) for part in (*before, tree.this) if part is not None]
        return ast.TableName(current().key(parts), named, span_of(tree.this, span), tree.name, len(parts) > 1)

    def _unnested(self, tree: exp.Expr, named: ast.Alias | None, span: Span) -> ast.Unnested:
        (array,) = tree.expressions
        number = tree.args.get("offset")
        if named and isinstance(number, exp.Identifier):
            named = replace(named, columns=(*named.columns, number.name))
        return ast.Unnested(self._expr(array), named, bool(number), span)

    def _join(self, left: ast.Relation, join: exp.Join) -> ast.JoinTable:
        on, using = join.args.get("on"), join.args.get("using") or ()
        kind = kind_of(join)
        assert kind is not None, join
        table, time = as_of(join.this)
        return ast.JoinTable(
            left,
            self._relation(table),
            "cross" if kind == "inner" and on is None and not using and not is_natural(join) else kind,
            self._expr(on) if on is not None else None,
            tuple(ast.Name(name.name, span_of(name, self.span)) for name in using),
            span_of(join, self.span),
            self._expr(time) if time is not None else None,
            is_natural(join),
        )

    def _name_of(self, node: exp.Expr) -> str:
        """The alias of a table; "": it has none."""
        matched = self.matches.get(node.alias)
        return (matched[1].name if matched[1] else "matches") if matched else node.alias

    def _ordinary(self, tree: exp.Expr, reason: str, because: Span) -> ast.Ordinary:
        """Replace the tables of a query by names. Its span stays right, because no text moves."""
        tree = tree.copy()
        tree.set("with_", None)
        local = {cte.alias for cte in tree.find_all(exp.CTE)}
        sources: dict[str, ast.Relation] = {}

        def take_out(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and node.table == QUALIFIER:
                return exp.Column(this=node.this.copy())
            if node.parent is not None and isinstance(node, exp.Select) and modern(node, self.groups) is not None:
                name = next(name for name in _argument_names("windows") if name not in sources)
                sources[name] = ast.Derived(self.query(node), None, span_of(node, self.span))
                return exp.select("*").from_(name)
            stands_in_from = isinstance(node.parent, exp.From | exp.Join) and node.arg_key == "this"
            named = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
            if not named and not (stands_in_from and is_plain(node) and not isinstance(node, exp.Values)):
                return node
            if isinstance(node, exp.Table) and node.name in local:
                return node
            relation = self._relation(node)
            base = self._name_of(node) or (node.name if isinstance(node, exp.Table) else "") or "rows"
            base = base if base.isidentifier() else "windows"
            name = next(name for name in _argument_names(base) if name not in sources)
            sources[name] = relation
            # column aliases belong to the source: the binder has named its columns so
            hole = exp.Table(this=exp.to_identifier(name), alias=exp.TableAlias(this=exp.to_identifier(base)))
            for key in ("joins", "sample", "pivots", "laterals"):  # clauses after a table stay in the query
                if found := node.args.get(key):
                    parts = [part.transform(take_out) for part in (found if isinstance(found, list) else [found])]
                    hole.set(key, parts if isinstance(found, list) else parts[0])
            return hole

        tree = tree.transform(take_out)
        refuse_left_over(tree, self.groups, self.windows)
        return ast.Ordinary(tree, tuple(sources.items()), reason, span_of(tree, self.span), because)

    def _ctes(self, clause: exp.Expr | None) -> Iterator[ast.Cte]:
        if clause is None:
            return
        if clause.args.get("recursive"):
            raise UnsupportedError(
                "WITH RECURSIVE is not supported", span=span_of(clause.expressions[0].args["alias"], self.span)
            )
        for cte in clause.expressions:
            columns = tuple(column.name for column in cte.args["alias"].args.get("columns") or ())
            yield ast.Cte(cte.alias, self.query(cte.this), columns, span_of(cte.args["alias"], self.span))

    def _order(self, item: exp.Expr) -> ast.OrderItem:
        descending = bool(item.args.get("desc"))
        nulls_first = item.args.get("nulls_first")
        return ast.OrderItem(
            self._expr(item.this), descending, not descending if nulls_first is None else bool(nulls_first)
        )

    def _number(self, clause: exp.Expr | None) -> int | None:
        """The literal of LIMIT or OFFSET; 0 if the clause is absent; None if it is not a literal."""
        if clause is None:
            return 0
        literal = clause.expression
        return int(literal.name) if isinstance(literal, exp.Literal) and literal.is_int else None

    def _expr(self, tree: exp.Expr) -> ast.Expr:
        refuse_left_over(tree, self.groups, self.windows)
        return ast.Expr(tree, span_of(tree, self.span))
