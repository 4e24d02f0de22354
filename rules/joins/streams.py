"""Window joins on streams: the rows of both sides are buffered by window and paired when it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.table import ROWS
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.analysis.sharing import of_shared
from tvfsql.plan.joins import WindowJoin
from tvfsql.plan.node import Field, Node, functions_in, row_of
from tvfsql.plan.nodes import Filter, Item, Project, SetOperation, Unnest
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column, free_name, quoted, template, text
from tvfsql.plan.values.types import BIGINT, BOOLEAN, EXACT, INT, TIMESTAMP, UNKNOWN, SqlType
from tvfsql.plan.window import Session, one_per_common_end
from tvfsql.plan.window_nodes import NO_START, AttachedWindow, WindowAggregate, WindowProperty, WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing, typed

# Names of a window's start, end and time in a side, before the window operator exists.
START, END, TIME = "$start", "$end", "$time"
LEFT, RIGHT = "left_row", "right_row"  # the row, in rows of the left and of the right side
LEFTS, RIGHTS = "lefts", "rights"  # all rows of a side in a window
ROWTIME = "rowtime"


@rule
def pair_rows_when_window_ends(node: Node, options: Options) -> Node | None:
    """On streams, buffer the rows of both sides of a window join, and pair them when the window ends.

    Before:
      WindowJoin(leftWindow=[w], rightWindow=[w], joinType=[InnerJoin], where=[item = item0 AND price > reserve])
      :- WindowTableFunction(window=[w])
      :  +- Scan(table=[bid], fields=[item, price, bidtime])
      +- Project(select=[item AS item0, reserve, ...])
         +- WindowTableFunction(window=[w])
            +- Scan(table=[auction], fields=[item, reserve, opened])
    After:
      Filter(where=[price > reserve])
      +- Project(select=[item, price, item AS item0, reserve, ...])
         +- Unnest(rows=[rights])
            +- Unnest(rows=[lefts])
               +- Filter(where=[size(lefts) > 0 AND size(rights) > 0])
                  +- WindowAggregate(groupBy=[item], window=[w], select=[$ROWS(left_row), $ROWS(right_row)])
                     +- SetOperation(kind=[union], all=[true])
                        :- Project(select=[item, bidtime AS rowtime, struct(price) AS left_row, NULL AS right_row])
                        :  +- Scan(table=[bid], fields=[item, price, bidtime])
                        +- Project(select=[item, opened AS rowtime, NULL AS left_row, struct(reserve) AS right_row])
                           +- Scan(table=[auction], fields=[item, reserve, opened])

    Holds because rows match only within a window and if their keys are equal, so a group contains all possible partners
    of a row, and the aggregate is final when the window is, for both sides. A row with a NULL key matches nothing by
    `=`: it is dropped, or, if it must be emitted without a partner, kept apart from the rows of the other side. Rows
    directly from window functions are buffered once, however many windows contain them; other rows are buffered in
    their window; so are those that a Python function decides about, because Spark does not call it for elements of a
    list. Does not apply in batch, nor to the shared part of a statement set, where the rows of a window are in one
    micro-batch, nor to a join that is not inner and whose ON calls a Python function.
    """
    match node:
        case WindowJoin() if options.streaming and not of_shared(node):
            join = node.from_left
            if join.kind != "inner" and any(functions_in(join.rest)):
                return None
            left, right = (None, None) if join.by_ends else (_of_function(join.left), _of_function(join.right))
            if left is None or right is None or any(functions_in(tuple(_in_lists(join, left, right)))):
                left, right = (_of_windows(join.left, join.left_window), _of_windows(join.right, join.right_window))
            made = _Pairing(join, left, right).made()
            return Project(made, tuple(Item(name, typed(column(name), node, name)) for name in node.columns))
    return None


@dataclass(frozen=True)
class Side:
    """One side of the join: the rows of `source`, whose event time is `time`.

    `shown` are the side's columns and `conditions` the conditions on its rows, as expressions over the columns of
    `source` and the window's START, END and TIME. The window comes from `function`; if that is None, rows already carry
    it, in `window`.
    """

    source: Node
    time: Scalar
    shown: Mapping[str, Scalar]
    conditions: tuple[Scalar, ...] = ()
    function: WindowTableFunction | None = None
    window: AttachedWindow | None = None


def _of_function(node: Node) -> Side | None:
    """The side, if it is a window function with only projections and filters above it; else None."""
    match node:
        case WindowTableFunction(window=Session()):  # a session is formed by the rows of one side
            return None
        case WindowTableFunction(source, window, time) if not window.emit_only_on_change:
            if getattr(window, "emit_only_on_update", False):
                return None
            shown = {part.name: column(part.name, part.type) for part in node.schema}
            shown |= {name: column(own) for name, own in zip(WINDOW_COLUMNS, (START, END, TIME), strict=True)}
            return Side(source, column(time, source.type_of(time)), shown, (), node)
        case Project(source, items):
            below = _of_function(source)
            if below is None or not all(item.scalar.deterministic for item in items):
                return None
            return replace(below, shown={item.name: item.scalar.substitute(below.shown) for item in items})
        case Filter(source, conditions):
            below = _of_function(source)
            if below is None or not all(one.deterministic for one in conditions):
                return None
            return replace(below, conditions=(*below.conditions, *(one.substitute(below.shown) for one in conditions)))
    return None


def _in_lists(join: WindowJoin, left: Side, right: Side) -> Iterator[Scalar]:
    """What is computed from rows in lists: the conditions of each side and, unless the join is inner, what ON reads."""
    compared = {name for one in join.rest for name in one.columns} | {
        name for pair in join.pairs for name in (pair.left, pair.right)
    }
    for side in (left, right):
        yield from side.conditions
        if join.kind != "inner":
            yield from (scalar for name, scalar in side.shown.items() if name in compared)


def _of_windows(node: Node, window: AttachedWindow) -> Side:
    """The side as rows that already carry windows; their time is the last moment of the window."""
    known = window_of(node)
    assert known is not None, node.label()
    own = dict.fromkeys(known.starts if window.start else (), START) | dict.fromkeys(known.ends, END)
    shown = {part.name: column(own.get(part.name, part.name), part.type) for part in node.schema}
    return Side(node, _last_moment(column(window.end)), shown, window=window)


def _last_moment(end: Scalar) -> Scalar:
    return template("{end} - INTERVAL '0.001' SECOND", {"end": end}, TIMESTAMP, atomic=False)


@dataclass
class _Names:
    """Gives out names, each only once."""

    taken: set[str] = field(default_factory=set)

    def free(self, wanted: str) -> str:
        name = free_name(wanted, lambda name: name.lower() in self.taken)
        self.taken.add(name.lower())
        return name


@dataclass(frozen=True)
class _Held:
    """The part of a side's rows that is buffered: `fields` over its source, each with a name. `present` is a field that
    is never NULL, if there is one. `places` maps columns of the source, START, END and TIME to expressions over the
    buffer.
    """

    side: Side
    fields: tuple[Item, ...]
    places: Mapping[str, Scalar]
    present: str | None

    @property
    def schema(self) -> tuple[Field, ...]:
        return tuple(Field(item.name, item.scalar.type) for item in self.fields)

    @property
    def row(self) -> Scalar:
        """A row as a struct."""
        holes = {f"c{i}": item.scalar for i, item in enumerate(self.fields)}
        parts = ", ".join(f"{{c{i}}} AS {quoted(item.name)}" for i, item in enumerate(self.fields))
        return template(f"struct({parts})", holes, row_of(self.schema))

    def over(self, scalar: Scalar, row: str | None = None) -> Scalar:
        """Rewrite a side's expression over the columns of an unnested row, or over those of the struct `row`."""
        places = dict(self.places)
        if row is not None:
            inside = {item.name: Scalar((f"{row}.{quoted(item.name)}",), item.scalar.type) for item in self.fields}
            places = {name: place.substitute(inside) for name, place in places.items()}
        return scalar.substitute(places)

    def shown(self, row: str | None = None) -> dict[str, Scalar]:
        """The side's columns."""
        return {name: self.over(scalar, row) for name, scalar in self.side.shown.items()}

    def columns(self) -> tuple[Item, ...]:
        """The side's columns; they are NULL if it has no row."""
        made = []
        for name, scalar in self.shown().items():
            if self.present is not None and scalar.column not in {item.name for item in self.fields}:
                scalar = template("CASE WHEN {p} THEN {s} END", {"p": column(self.present), "s": scalar})
            made.append(Item(name, scalar))
        return tuple(made)


class _Pairing:
    """Builds the plan that replaces a window join of `left` and `right`; the sides of a right join are swapped
    before.
    """

    def __init__(self, join: WindowJoin, left: Side, right: Side) -> None:
        self.join, self.kind = join, join.kind
        self.names = _Names({LEFT, RIGHT, LEFTS, RIGHTS, ROWTIME, *WINDOW_COLUMNS})
        keys = {pair: (left.shown[pair.left], right.shown[pair.right]) for pair in join.pairs}
        types = {pair: (join.left.type_of(pair.left), join.right.type_of(pair.right)) for pair in join.pairs}
        self.pairs = [pair for pair, parts in keys.items() if _is_key(parts, types[pair])]
        self.rest = (*join.rest, *(pair.condition for pair in join.pairs if pair not in self.pairs))
        self.keys = {pair: self.names.free(keys[pair][0].column or "key") for pair in self.pairs}
        self.left_keys, self.right_keys = ({self.keys[pair]: keys[pair][i] for pair in self.pairs} for i in (0, 1))
        self.counted = self.kind in ("semi", "anti") and not self.rest and not right.conditions
        self.window, self.ends = self._window(left)
        read = {name for one in self.rest for name in one.columns}
        of_right = {n: s for n, s in right.shown.items() if n in read} if self.kind in ("semi", "anti") else right.shown
        self.left = self._held(left, left.shown, self.left_keys, missing=self.kind == "full")
        self.right = self._held(right, of_right, self.right_keys, missing=self.kind in ("left", "full"))

    def made(self) -> Node:
        gathered = self._gathered()
        for held, rows in ((self.left, LEFTS), (self.right, RIGHTS)):
            if held.side.conditions:
                gathered = self._with(gathered, rows, _filtered(rows, held, self.names.free("e")))
        paired = self._paired(gathered)
        if self.kind in ("semi", "anti"):
            return Project(paired, self.left.columns())
        made = Project(paired, (*self.left.columns(), *self.right.columns()))
        return Filter(made, self.rest) if self.rest and self.kind == "inner" else made

    # ---- gathering the rows of a window

    def _window(self, left: Side) -> tuple[tuple[str, ...], dict[str, Scalar]]:
        """The keys that identify the window, if rows already carry it, and the expressions for START, END and TIME."""
        if left.function is not None:
            ends = {own: column(name) for own, name in zip((START, END, TIME), WINDOW_COLUMNS, strict=True)}
            return (), ends
        start, end = WINDOW_COLUMNS[:2]
        own = {START: column(start, TIMESTAMP), END: column(end, TIMESTAMP)}
        return ((end,) if self.join.by_ends else (start, end)), own

    def _held(self, side: Side, shown: Mapping[str, Scalar], keys: Mapping[str, Scalar], *, missing: bool) -> _Held:
        """The buffered part of a side, for the columns `shown`. With `missing` the side can lack a row, and its columns
        are NULL then.
        """
        needed = {name for scalar in (*shown.values(), *side.conditions) for name in scalar.columns}
        same = {} if missing else {
            scalar.column: column(name) for name, scalar in keys.items() if scalar.column and scalar.type in EXACT
        }  # fmt: skip
        kept = [part for part in side.source.schema if part.name in needed and part.name not in same]
        plain = (part.name if part.name.isidentifier() else "column" for part in kept)
        fields = [
            Item(self.names.free(name), column(part.name, part.type)) for name, part in zip(plain, kept, strict=True)
        ]
        places = {part.name: column(item.name, part.type) for part, item in zip(kept, fields, strict=True)}
        present = None
        if missing or not fields:
            present = self.names.free("present")
            fields.append(Item(present, text("true", BOOLEAN)))
        of_key = {name: place for name, place in same.items() if name is not None}
        return _Held(side, tuple(fields), {**of_key, **places, **self.ends}, present if missing else None)

    def _gathered(self) -> Node:
        """One row per window and key, with the lists of both sides' rows."""
        alone = self.kind == "full" and any(not pair.null_safe for pair in self.pairs)
        apart = self.names.free("side") if alone else None
        union = SetOperation(self._leg(self.left, apart), self._leg(self.right, apart), "union", True)
        lists = [_list(LEFTS, LEFT, self.left)]
        if self.counted:
            lists.append(AggCall(RIGHTS, "COUNT", (column(RIGHT),), type=BIGINT))
        else:
            lists.append(_list(RIGHTS, RIGHT, self.right))
        keys = (*self.keys.values(), *([apart] if apart else []))
        attached, function = self.join.left_window, self.left.side.function
        if function is not None:
            parts = tuple(
                WindowProperty(name, name.removeprefix("window_"), function.type_of(name)) for name in WINDOW_COLUMNS
            )
            zone = function.zone
            return WindowAggregate(union, function.window, ROWTIME, keys, tuple(lists), parts, zone)
        start, end = WINDOW_COLUMNS[:2]
        window = one_per_common_end(attached.window, self.join.right_window.window)
        of_rows, start = (window, NO_START) if self.join.by_ends else (attached.window, start)
        known = AttachedWindow(of_rows, start, end, attached.zone)
        return WindowAggregate(union, window, ROWTIME, (*self.window, *keys), tuple(lists), (), attached.zone, known)

    def _leg(self, held: _Held, apart: str | None) -> Node:
        """The rows of a side in the form in which they are gathered. `apart` is a key that separates rows from those of
        the other side.
        """
        side, is_left = held.side, held is self.left
        keys = self.left_keys if is_left else self.right_keys
        plain = [keys[self.keys[pair]] for pair in self.pairs if not pair.null_safe]
        given = tuple(dict.fromkeys(template("{k} IS NOT NULL", {"k": key}, BOOLEAN, atomic=False) for key in plain))
        comes_out = self.kind == "full" or (is_left and self.kind in ("left", "anti"))
        source = Filter(side.source, given) if given and not comes_out else side.source
        items = [Item(name, scalar) for name, scalar in keys.items()]
        if apart:
            none = " OR ".join(f"{{k{i}}} IS NULL" for i in range(len(plain)))
            holes = {f"k{i}": key for i, key in enumerate(plain)}
            number = "1" if is_left else "2"
            items.append(Item(apart, template(f"CASE WHEN {none} THEN {number} END", holes, INT)))
        if side.window is not None:
            own = zip(self.window, filter(None, (side.window.start, side.window.end)), strict=True)
            items += [Item(name, column(of, TIMESTAMP)) for name, of in own]
        row = text("1", INT) if self.counted and not is_left else held.row
        rows = (Item(LEFT, row if is_left else text("NULL")), Item(RIGHT, text("NULL") if is_left else row))
        return Project(source, (*items, Item(ROWTIME, side.time), *rows))

    # ---- pairing them

    def _paired(self, node: Node) -> Node:
        """The matching pairs of rows, and the rows that are emitted without a match."""
        if self.kind in ("semi", "anti"):
            return self._left_alone(node)
        if self.kind == "inner":
            return self._unnested(self._unnested(Filter(node, (_some(LEFTS), _some(RIGHTS))), LEFTS), RIGHTS)
        if self.kind == "left":
            node = self._unnested(Filter(node, (_some(LEFTS),)), LEFTS)
            node = self._with(node, RIGHTS, self._matching()) if self.rest else node
            return self._unnested(node, RIGHTS)
        either = template("{l} OR {r}", {"l": _some(LEFTS), "r": _some(RIGHTS)}, BOOLEAN, atomic=False)
        node = Filter(node, (either,))
        if not self.rest:
            return self._unnested(self._unnested(node, LEFTS), RIGHTS)
        alone = self.names.free("alone")
        node = Project(node, (*passing(node.columns, node), Item(alone, self._unmatched())))
        one_more = f"CASE WHEN size({{a}}) > 0 THEN concat({quoted(LEFTS)}, array(NULL)) ELSE {{l}} END"
        node = self._with(node, LEFTS, template(one_more, {"a": column(alone), "l": column(LEFTS)}))
        node = self._unnested(node, LEFTS)
        holes = {"p": column(self.left.present or ""), "m": self._matching(), "a": column(alone)}
        node = self._with(node, RIGHTS, template("CASE WHEN {p} THEN {m} ELSE {a} END", holes))
        return self._unnested(node, RIGHTS)

    def _left_alone(self, node: Node) -> Node:
        """The left rows that have a match, or those that have none."""
        anti = self.kind == "anti"
        if self.counted:
            found = template("{r} = 0" if anti else "{r} > 0", {"r": column(RIGHTS)}, BOOLEAN, atomic=False)
            return self._unnested(Filter(node, (_some(LEFTS), found)), LEFTS)
        node = self._unnested(Filter(node, (_some(LEFTS),)), LEFTS)
        found = template("size({m}) = 0" if anti else "size({m}) > 0", {"m": self._matching()}, BOOLEAN, atomic=False)
        return Filter(node, (found,))

    def _matching(self) -> Scalar:
        """The right rows that match the current left row. All of them meet the conditions of their own side already."""
        if not self.rest:
            return column(RIGHTS)
        row = self.names.free("r")
        met = self._rest({**self.left.shown(), **self.right.shown(row)})
        return template(f"filter({{rows}}, {row} -> {{c}})", {"rows": column(RIGHTS), "c": met})

    def _unmatched(self) -> Scalar:
        """The right rows that match no left row."""
        one, other = self.names.free("l"), self.names.free("r")
        met = self._rest({**self.left.shown(one), **self.right.shown(other)})
        pattern = f"filter({{rights}}, {other} -> size(filter({{lefts}}, {one} -> {{c}})) = 0)"
        return template(pattern, {"rights": column(RIGHTS), "lefts": column(LEFTS), "c": met})

    def _rest(self, columns: Mapping[str, Scalar]) -> Scalar:
        return _all([one.substitute(columns) for one in self.rest])

    def _unnested(self, node: Node, rows: str) -> Node:
        return Unnest(node, rows, (self.left if rows == LEFTS else self.right).schema)

    @staticmethod
    def _with(node: Node, name: str, value: Scalar) -> Node:
        """The same rows with a column replaced."""
        return Project(
            node, tuple(replace(i, scalar=value) if i.name == name else i for i in passing(node.columns, node))
        )


def _is_key(parts: tuple[Scalar, Scalar], types: tuple[SqlType, SqlType]) -> bool:
    """Whether rows can be grouped by both sides of an equality: both have the same type and do not depend on the
    window.
    """
    return types[0] == types[1] != UNKNOWN and not any(part.columns & {START, END, TIME} for part in parts)


def _list(name: str, row: str, held: _Held) -> AggCall:
    given = template("{r} IS NOT NULL", {"r": column(row)}, BOOLEAN, atomic=False)
    return AggCall(name, ROWS, (column(row, held.row.type),), filter=given)


def _some(rows: str) -> Scalar:
    return template("size({r}) > 0", {"r": column(rows)}, BOOLEAN, atomic=False)


def _filtered(rows: str, held: _Held, row: str) -> Scalar:
    """The rows of a list that satisfy the conditions of their side."""
    met = _all([held.over(one, row) for one in held.side.conditions])
    return template(f"filter({{rows}}, {row} -> {{c}})", {"rows": column(rows), "c": met})


def _all(conditions: list[Scalar]) -> Scalar:
    if len(conditions) == 1:
        return conditions[0]
    holes = {f"c{i}": one for i, one in enumerate(conditions)}
    return template(" AND ".join(f"{{{hole}}}" for hole in holes), holes, BOOLEAN, atomic=False)
