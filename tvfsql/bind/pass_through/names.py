"""Names in a query that Spark plans: each column is resolved in its scope and gets its type before anything is lowered.

A name means a column of the FROM of its own SELECT, else an alias of that SELECT, else a name of the SELECT around it;
in ORDER BY aliases come first. That is Flink's order, and Spark's but for HAVING, where Spark looks at the aliases
first: there a column of that name is written with its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import KIND, SOURCE
from tvfsql.bind.flink.operators.common_type import common_type, of_values
from tvfsql.bind.flink.operators.subscripts import field_of_row
from tvfsql.bind.flink.time.wall_clock import INSTANT
from tvfsql.bind.infer import infer
from tvfsql.bind.joins.unnest import elements_of
from tvfsql.bind.scalar import WITHOUT_PARENTHESES
from tvfsql.bind.spark_text.functions import missing_word
from tvfsql.bind.spark_text.text import in_spark_words
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.node import Field, Node
from tvfsql.plan.values.types import UNKNOWN, Array, Map, Row, SqlType
from tvfsql.syntax.places import span_of

SEVERAL_COLUMNS = (exp.Posexplode, exp.PosexplodeOuter, exp.Inline, exp.Stack)
ONE_SIDED = ("SEMI", "ANTI")  # joins whose right side has no columns after them


@dataclass(frozen=True)
class Table:
    """A table in FROM; `columns` is None if only Spark knows them."""

    name: str
    columns: tuple[Field, ...] | None


@dataclass(frozen=True)
class Scope:
    """The names that an expression of a SELECT can use. `merged` are the columns of USING and NATURAL JOIN, `aliases`
    the types of the items that have names. `outer` is the scope of the SELECT around it.
    """

    tables: tuple[Table, ...] = ()
    merged: tuple[Field, ...] = ()
    aliases: dict[str, SqlType] = field(default_factory=dict)
    aliases_first: bool = False
    outer: Scope | None = None
    ctes: Mapping[str, tuple[Field, ...] | None] = field(default_factory=dict)

    def beside(self, table: Table) -> Scope:
        return replace(self, tables=(*self.tables, table))

    def within(self) -> Scope:
        """The scope of a SELECT in an expression of this one, before its FROM is known."""
        return Scope(outer=self, ctes=self.ctes)

    @property
    def is_open(self) -> bool:
        """Whether a table has columns that only Spark knows."""
        return any(table.columns is None for table in self.tables)

    def around(self) -> Iterator[Scope]:
        """This scope and those around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def columns(self) -> Iterator[tuple[str, Field]]:
        for table in self.tables:
            yield from ((table.name, column) for column in table.columns or ())

    def star(self) -> tuple[Field, ...] | None:
        """The columns of `*`; None if only Spark knows them."""
        if self.is_open:
            return None
        merged = {column.name.lower() for column in self.merged}
        others = (column for _, column in self.columns() if column.name.lower() not in merged)
        return (*self.merged, *others)


def with_types(tree: exp.Expr, sources: Mapping[str, Node], span: Span) -> tuple[exp.Expr, tuple[Field, ...] | None]:
    """A copy of the query in which each column has its type, and the columns that the query makes; None for these if
    only Spark knows them. Raises BindError for a name that no scope has.
    """
    tree = tree.copy()
    made = _Names(sources, span).query(tree, Scope())
    return tree, made


@dataclass(frozen=True)
class _Names:
    sources: Mapping[str, Node]
    span: Span

    # ---- queries -------------------------------------------------------------------------------------

    def query(self, tree: exp.Expr, scope: Scope) -> tuple[Field, ...] | None:
        """Give the columns in a query their types, and return the columns that it makes. `scope` is the one around
        it.
        """
        scope = self._with_ctes(tree, scope)
        match tree:
            case exp.Subquery():
                made = self.query(tree.this, scope)
                self._order(tree, replace(scope.within(), aliases=_by_name(made or ())))
            case exp.SetOperation():
                made = self._united(self.query(tree.left, scope), self.query(tree.right, scope))
                self._order(tree, replace(scope.within(), aliases=_by_name(made or ())))
            case exp.Select():
                made = self._select(tree, scope)
            case _:
                made = None
        if made is not None and len(made) == 1:
            tree.meta[KIND] = made[0].type
        return made

    def _with_ctes(self, tree: exp.Expr, scope: Scope) -> Scope:
        clause = tree.args.get("with_")
        for cte in clause.expressions if clause else ():
            made = self.query(cte.this, replace(scope, outer=None, tables=(), aliases={}))
            named = _renamed(made, cte.args.get("alias"))
            scope = replace(scope, ctes={**scope.ctes, cte.alias.lower(): named})
        return scope

    @staticmethod
    def _united(left: Sequence[Field] | None, right: Sequence[Field] | None) -> tuple[Field, ...] | None:
        if left is None or right is None or len(left) != len(right):
            return None
        pairs = zip(left, right, strict=True)
        return tuple(replace(one, type=common_type((one.type, other.type))) for one, other in pairs)

    def _select(self, tree: exp.Select, around: Scope) -> tuple[Field, ...] | None:
        scope = self._from(tree, replace(around.within(), ctes=around.ctes))
        done = {"with_", "from_", "joins", "laterals", "expressions", "order"}
        self._visit(tree.args.get("where"), scope)
        made: list[Field] | None = []
        for at, item in enumerate(tree.expressions):
            self._visit(item, scope)
            columns = self._columns_of(item, at, scope)
            made = None if made is None or columns is None else [*made, *columns]
            if name := alias_of(item):
                scope.aliases[name.lower()] = (columns or (Field(""),))[0].type
        for key, value in tree.args.items():
            if key == "having":
                self._visit(value, scope, qualified=True)
            elif key not in done and key != "where":
                self._visit(value, scope)
        self._order(tree, scope)
        return None if made is None else tuple(made)

    def _order(self, tree: exp.Expr, scope: Scope) -> None:
        self._visit(tree.args.get("order"), replace(scope, aliases_first=True))

    def _columns_of(self, item: exp.Expr, at: int, scope: Scope) -> list[Field] | None:
        """The columns that an item of SELECT makes; None if only Spark knows them."""
        if isinstance(item, exp.Star):
            if not scope.tables:
                raise BindError("SELECT * needs a FROM clause", span=self.span, hint="SELECT * FROM t")
            return None if (found := scope.star()) is None else list(found)
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            return self._of_one(item, scope)
        if isinstance(item, exp.Aliases):
            return [Field(part.name) for part in item.expressions]
        value = item.unalias()
        if isinstance(value, SEVERAL_COLUMNS):
            called = value.sql_name()
            raise BindError(
                f"{called} gives several columns", span=span_of(item, self.span), hint=f"{called}(...) AS (a, b)"
            )
        name = alias_of(item) or (value.unnest().name if isinstance(value.unnest(), exp.Column | exp.Dot) else "")
        return [Field(name or f"EXPR${at}", self._type_of(value))]

    def _of_one(self, item: exp.Column, scope: Scope) -> list[Field] | None:
        """The columns of `t.*`, or the fields of the row `r.*`."""
        found = next((table for each in scope.around() for table in _named(each, item.table)), None)
        if found is not None:
            return None if found.columns is None else list(found.columns)
        row = exp.column(item.args["table"].copy())
        self._resolve(row, scope)
        kind = row.meta[KIND]
        if not isinstance(kind, Row):
            raise BindError("this * cannot be expanded", span=self._place(item), hint="list the columns by name")
        return [Field(name, of) for name, of in kind.fields]

    def _type_of(self, value: exp.Expr) -> SqlType:
        return infer(in_spark_words(value, {}, self.span), {})

    # ---- FROM ----------------------------------------------------------------------------------------

    def _from(self, tree: exp.Select, scope: Scope) -> Scope:
        clause = tree.args.get("from_")
        joins = [*(tree.args.get("joins") or ())]
        if clause is not None:
            scope = self._beside(clause.this, scope)
            joins = [*(clause.this.args.get("joins") or ()), *joins]
            views = clause.this.args.get("laterals") or ()
        else:
            views = ()
        for join in joins:
            scope = self._joined(join, scope)
        for view in (*views, *(tree.args.get("laterals") or ())):
            self._visit(view.this, scope)
            scope = scope.beside(_of_view(view))
        return scope

    def _beside(self, tree: exp.Expr, scope: Scope) -> Scope:
        """The scope with an item of FROM, or with the tables of a join in parentheses."""
        if not isinstance(tree, exp.Subquery) or not isinstance(tree.this, exp.Table) or tree.alias:
            return scope.beside(self._table(tree, scope))
        scope = self._beside(tree.this, scope)
        for join in (*(tree.this.args.get("joins") or ()), *(tree.args.get("joins") or ())):
            scope = self._joined(join, scope)
        return scope

    def _joined(self, join: exp.Join, scope: Scope) -> Scope:
        both = self._beside(join.this, scope)
        added = both.tables[len(scope.tables) :]
        columns = [table.columns for table in added]
        together = None if None in columns else tuple(column for each in columns for column in each or ())
        table = Table("", together)
        self._visit(join.args.get("on"), both)
        names = [name.name for name in join.args.get("using") or ()]
        if str(join.method).upper() == "NATURAL":
            right = {column.name.lower() for column in table.columns or ()}
            names = [column.name for column in scope.star() or () if column.name.lower() in right]
        if str(join.kind).upper() in ONE_SIDED:
            return scope
        merged = [self._merged(name, scope, table, str(join.side).upper()) for name in names]
        return replace(both, merged=(*merged, *scope.merged))

    def _merged(self, name: str, scope: Scope, table: Table, side: str) -> Field:
        left = self._find(name, scope)
        right = next((column for column in table.columns or () if column.name.lower() == name.lower()), None)
        kinds = [left or UNKNOWN, right.type if right else UNKNOWN]
        if INSTANT in kinds and kinds[0] != kinds[1]:
            raise UnsupportedError(
                f"USING of {kinds[0].flink} and {kinds[1].flink} is not supported here",
                span=self.span,
                hint=f"ON l.{name} = r.{name}",
            )
        return Field(name, kinds[1] if side == "RIGHT" else kinds[0] if side == "LEFT" else common_type(kinds))

    @staticmethod
    def _find(name: str, scope: Scope) -> SqlType | None:
        for column in (*scope.merged, *(column for _, column in scope.columns())):
            if column.name.lower() == name.lower():
                return column.type
        return None

    def _table(self, tree: exp.Expr, scope: Scope) -> Table:
        """An item of FROM. LATERAL sees the tables before it."""
        alias = tree.args.get("alias")
        name = tree.alias_or_name
        if any(tree.args.get(key) for key in ("pivots", "sample")) and not isinstance(tree, exp.Table):
            return Table(name, None)
        match tree:
            case exp.Table() if tree.args.get("pivots"):
                return Table(name, None)
            case exp.Table() if tree.name.lower() in scope.ctes and tree.name not in self.sources:
                return Table(name, _renamed(scope.ctes[tree.name.lower()], alias))
            case exp.Table() if tree.name in self.sources:
                return Table(name, _renamed(self.sources[tree.name].schema, alias))
            case exp.Values():
                made = tuple(_of_values(tree, self.span))
                return Table(name, made or None)
            case exp.Unnest():
                return Table(name, self._of_unnest(tree, scope))
            case exp.Subquery():
                return Table(name, _renamed(self.query(tree.this, replace(scope, tables=(), aliases={})), alias))
            case exp.Lateral() if isinstance(tree.this, exp.Query):
                return Table(name, _renamed(self.query(tree.this, scope), alias))
            case exp.Lateral():
                self._visit(tree.this, scope)
                return _of_view(tree)
        self._visit(tree, scope)
        return Table(name, None)

    def _of_unnest(self, tree: exp.Unnest, scope: Scope) -> tuple[Field, ...] | None:
        """The columns of an UNNEST; None if the type of its array is not certain."""
        for array in tree.expressions:
            self._visit(array, scope)
        alias, number = tree.args.get("alias") or exp.TableAlias(), tree.args.get("offset")
        kinds = [self._type_of(array) for array in tree.expressions]
        names = [column.name for column in alias.columns]
        if len(kinds) != 1 or not isinstance(kinds[0], Array | Map):
            return tuple(map(Field, names)) if names else None
        elements = elements_of(kinds[0], alias.name, numbered=bool(number))
        if isinstance(number, exp.Identifier):
            names.append(number.name)
        return tuple(
            replace(column, name=names[at]) if at < len(names) else column for at, column in enumerate(elements)
        )

    # ---- expressions ---------------------------------------------------------------------------------

    def _visit(self, value: object, scope: Scope, *, qualified: bool = False) -> None:
        """Resolve the columns in a clause. `qualified`: write the table of a column that has the name of an alias."""
        if isinstance(value, list | tuple):
            for part in value:
                self._visit(part, scope, qualified=qualified)
        elif isinstance(value, exp.Query):
            self.query(value, scope)
        elif isinstance(value, exp.Column):
            if not isinstance(value.this, exp.Star):
                self._resolve(value, scope, qualified=qualified)
        elif isinstance(value, exp.Lambda):
            names = tuple(Field(parameter.name) for parameter in value.expressions)
            self._visit(value.this, Scope((Table("", names),), outer=scope, ctes=scope.ctes))
        elif isinstance(value, exp.Expr):
            for part in [*value.args.values()]:
                self._visit(part, scope, qualified=qualified)

    def _resolve(self, node: exp.Column, scope: Scope, *, qualified: bool = False) -> None:
        names = [part.name for part in node.parts]
        for each in scope.around():
            found = self._in_scope(names, each, node)
            if found is not None:
                kind, path, table = found
                node.meta[KIND] = self._field(kind, path, names, node)
                column = names[len(names) - len(path) - 1 :]
                node.meta[SOURCE] = (id(each), table.lower(), *(name.lower() for name in column))
                if qualified and table and len(names) == 1 and names[0].lower() in each.aliases:
                    node.set("table", exp.to_identifier(table))
                return
            if each.is_open:
                node.meta[KIND] = UNKNOWN
                return
        if len(names) == 1 and names[0].upper() in (*WITHOUT_PARENTHESES, "PI"):
            node.replace(exp.Anonymous(this=names[0].upper()))
            return
        raise self._missing(names, scope, node)

    def _in_scope(
        self, names: Sequence[str], scope: Scope, node: exp.Column
    ) -> tuple[SqlType, Sequence[str], str] | None:
        """The type of the column that these names begin with in one scope, the names of the fields after it, and its
        table if it has one.
        """
        if len(names) > 1:
            for table in _named(scope, names[0]):
                if table.columns is None:
                    return UNKNOWN, (), table.name
                for column in table.columns:
                    if column.name.lower() == names[1].lower():
                        return column.type, names[2:], table.name
        first, rest = names[0].lower(), names[1:]
        if scope.aliases_first and not rest and first in scope.aliases:
            return scope.aliases[first], (), ""
        for column in scope.merged:
            if column.name.lower() == first:
                return column.type, rest, ""
        found = [(table, column) for table, column in scope.columns() if column.name.lower() == first]
        if len({table for table, _ in found}) > 1 and len({column.type for _, column in found}) > 1:
            where = " or ".join(sorted(f"{table}.{column.name}" for table, column in found if table))
            raise BindError(f"column {names[0]} is ambiguous", span=self._place(node), hint=where)
        if found:
            return found[0][1].type, rest, found[0][0]
        if first in scope.aliases:
            return scope.aliases[first], rest, ""
        return None

    def _field(self, kind: SqlType, path: Sequence[str], names: Sequence[str], node: exp.Column) -> SqlType:
        at = len(names) - len(path)
        for i, name in enumerate(path):
            kind = field_of_row(kind, name, ".".join(names[: at + i]), self._place(node))
        return kind

    def _missing(self, names: Sequence[str], scope: Scope, node: exp.Column) -> BindError:
        if told := missing_word(node, self._place(node)):
            return told
        tables = [table for each in scope.around() for table in each.tables if table.name]
        own = [table for table in tables if len(names) > 1 and table.name.lower() == names[0].lower()]
        of = own or tables
        wanted = names[1] if own else names[0]
        known = dict.fromkeys(column.name for table in of for column in table.columns or ())
        hint = did_you_mean(wanted, known, otherwise="columns: ")
        if own or (len({table.name for table in tables}) == 1 and len(names) == 1):
            message = f"table {of[0].name} has no column {wanted}"
        elif len(names) > 1:
            hint = did_you_mean(names[0], {table.name for table in tables})
            message = f"there is no table {names[0]} in this FROM"
        else:
            message = f"there is no column {wanted}"
        return BindError(message, span=self._place(node), hint=hint)

    def _place(self, node: exp.Column) -> Span:
        return span_of(node, self.span)


def _named(scope: Scope, name: str) -> list[Table]:
    return [table for table in scope.tables if table.name and table.name.lower() == name.lower()]


def _by_name(columns: Iterable[Field]) -> dict[str, SqlType]:
    return {column.name.lower(): column.type for column in columns}


def _renamed(columns: Sequence[Field] | None, alias: exp.Expr | None) -> tuple[Field, ...] | None:
    """The columns under the names that an alias lists."""
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if columns is None:
        return tuple(map(Field, names)) if names else None
    return tuple(replace(column, name=names[at]) if at < len(names) else column for at, column in enumerate(columns))


def _of_view(view: exp.Lateral) -> Table:
    """A table function or LATERAL VIEW: only Spark knows the types of its columns."""
    alias = view.args.get("alias")
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return Table(view.alias, tuple(map(Field, names)) if names else None)


def _of_values(values: exp.Values, span: Span) -> Iterator[Field]:
    """The names and types of the columns of VALUES. A type is UNKNOWN if Spark has to find what the rows have in
    common.
    """
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    width = len(rows[0])
    for row, cells in zip(values.expressions, rows, strict=True):
        if len(cells) != width:
            message = f"the first row of VALUES has {width} columns, but this one has {len(cells)}"
            raise BindError(message, span=span_of(row, span))
    alias = values.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not alias.columns:
        return
    if len(alias.columns) != width:
        message = f"{alias.name} lists {len(alias.columns)} columns, but has {width}"
        raise BindError(message, span=span_of(values, span))
    for column, *arms in zip(alias.columns, *rows, strict=True):
        lowered = [in_spark_words(arm, {}, span) for arm in arms]
        kind = of_values(lowered, lambda arm: infer(arm, {}))
        kinds = [infer(arm, {}) for arm in lowered if not isinstance(arm, exp.Null)]
        if kind == UNKNOWN and kinds and all(kinds):
            odd = next(arm for arm in arms if infer(arm, {}) not in (UNKNOWN, kinds[0]))
            several = ", ".join(each.flink for each in dict.fromkeys(kinds))
            message = f"the rows of VALUES have {several} in column {column.name}"
            raise BindError(message, span=span_of(odd, span), hint=f"CAST(x AS {kinds[0].flink})")
        yield Field(column.name, kind)


def alias_of(item: exp.Expr) -> str:
    """The alias of an item of SELECT; of `COUNT(*) OVER w` sqlglot has w as the alias."""
    return "" if isinstance(item, exp.Window) else item.alias
