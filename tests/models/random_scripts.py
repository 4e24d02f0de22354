"""Random scripts over random tables, in batch and on streams: views, CTEs, and a query that composes windows, ranks,
joins, subqueries and set operations, or INSERTs whose tables are read afterwards.

No query depends on the order in which rows come. A seed makes the same script always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from choices import Choices, Tree
from conformance import Situation, mentions
from random_expressions import AGGREGATES, CALL, PLACE, Expressions
from random_tables import NAMES, Column, World, random_world

SCRIPTS_OF_A_WORLD = 25
WINDOW = (Column("window_start", "TIMESTAMP"), Column("window_end", "TIMESTAMP"))
WINDOWS = (
    "TUMBLE({}, INTERVAL '5' MINUTE)",
    "TUMBLE({}, INTERVAL '10' SECOND)",
    "TUMBLE({}, INTERVAL '1' HOUR, INTERVAL '7' MINUTE)",
    "TUMBLE({}, INTERVAL '1' DAY)",
    "HOP({}, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)",
    "HOP({}, INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
    "HOP({}, INTERVAL '30' MINUTE, INTERVAL '1' HOUR, INTERVAL '-10' MINUTE)",
    "CUMULATE({}, INTERVAL '5' MINUTE, INTERVAL '20' MINUTE)",
    "CUMULATE({}, INTERVAL '6' HOUR, INTERVAL '1' DAY)",
)
SESSION = "SESSION({}, INTERVAL '2' MINUTE)"
GROUP_WINDOWS = (
    "TUMBLE({}, INTERVAL '5' MINUTE)",
    "HOP({}, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)",
    SESSION,
)
FRAMES = ("", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING")
RESULT_KINDS = ("INT", "STRING", "BOOLEAN", "DECIMAL", "TIMESTAMP", "BIGINT", "DOUBLE", "DATE", "LTZ", "TIME", "FLOAT")
# types that INSERT converts values of a kind to
STORED = {
    "INT": ("INT", "BIGINT", "DECIMAL(12, 2)", "DOUBLE", "FLOAT"),
    "BIGINT": ("BIGINT", "DECIMAL(20, 1)", "DOUBLE"),
    "DECIMAL": ("DECIMAL(20, 4)", "DECIMAL(12, 1)", "DOUBLE"),
    "DOUBLE": ("DOUBLE",),
    "FLOAT": ("FLOAT", "DOUBLE"),
    "STRING": ("STRING", "VARCHAR(3)", "CHAR(4)"),
    "BOOLEAN": ("BOOLEAN",),
    "DATE": ("DATE", "TIMESTAMP(3)"),
    "TIME": ("TIME",),
    "TIMESTAMP": ("TIMESTAMP(3)", "TIMESTAMP(0)", "TIMESTAMP_LTZ(3)", "DATE"),
    "LTZ": ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"),
}
SINK = "WITH ('connector' = 'filesystem', 'path' = '{folder}/%s', 'format' = 'json')"
NESTED = ("ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING, INT>", "BYTES")
KEYS = ("INT", "STRING", "BOOLEAN", "BIGINT", "DECIMAL", "DATE")


@dataclass(frozen=True)
class Rows:
    """What can stand in FROM: a name or a query in parentheses, with its columns.

    `time` says whether `ts` is its event time, `id` whether the column `id` differs from row to row (or from row to row
    of a window, if it has the columns of windows).
    """

    text: str
    columns: tuple[Column, ...]
    time: bool = False
    id: bool = False
    name: bool = False  # it is a table or a view

    def has(self, *names: str) -> bool:
        return {*names} <= {each.name for each in self.columns}

    def kind(self, name: str) -> str:
        """The kind of a column; empty without a column."""
        return next((each.kind for each in self.columns if each.name == name), "")

    @property
    def windowed(self) -> bool:
        return self.has("window_start", "window_end")


@dataclass
class Script:
    """A script in the making."""

    choices: Choices
    world: World
    streaming: bool
    views: list[str] = field(default_factory=list)
    inserts: list[str] = field(default_factory=list)
    named: list[Rows] = field(default_factory=list)
    aliases: int = 0
    columns: tuple[Column, ...] = ()  # of the result

    def __post_init__(self) -> None:
        self.named += [Rows(each.table.name, each.columns, True, True, True) for each in self.world.tables]

    # -- what a query reads --------------------------------------------------------------------------------------------

    def source(self, depth: int) -> Rows:
        """Rows of a table, a view or a query."""
        with self.choices.part():
            if not depth or self.choices.below(3) == 0:
                own = self.named[len(self.world.tables) :]  # views and CTEs, more often than tables
                return self.choices.one([*self.named, *own, *own])
            return nested(self.query(depth - 1))

    def with_id(self) -> Rows:
        """Named rows with an `id` and a `k`."""
        return self.choices.one([each for each in self.named if each.has("id", "k")])

    def timed(self, kind: str = "") -> Rows:
        """A table or a view with an event time, of this kind."""
        found = [
            each for each in (*self.named, *self.named[len(self.world.tables) :]) if each.time and not each.windowed
        ]
        return self.choices.one([each for each in found if kind in ("", each.kind("ts"))] or found)

    def windows(self, session: bool = False) -> Rows:
        """A window function over a table."""
        with self.choices.part():
            of, function = self.timed(), SESSION if session else self.choices.one(WINDOWS)
            text = f"TABLE({function.format(f'TABLE {of.text}, DESCRIPTOR(ts)')})"
            text = text.replace(", DESCRIPTOR", " PARTITION BY k, DESCRIPTOR") if session else text
            kept = tuple(each for each in of.columns if each.name not in ("window_start", "window_end", "window_time"))
            kind = of.kind("ts")
            return Rows(text, (*kept, *WINDOW, Column("window_time", kind)), False, of.id)

    def alias(self) -> str:
        self.aliases += 1
        return f"r{self.aliases}"

    # -- parts of queries ----------------------------------------------------------------------------------------------

    def expressions(self, *sides: tuple[str, Rows], subqueries: bool = False) -> Expressions:
        """Expressions over the columns of these aliases."""
        columns = [
            Column(f"{alias}.{each.name}" if alias else each.name, each.kind)
            for alias, rows in sides
            for each in rows.columns
        ]
        if len(sides) == 1:
            columns += [Column(each.name, each.kind) for each in sides[0][1].columns]
        deep = [part for each in columns for part in (each, *(field for field in each.fields))]
        return Expressions(self.choices, deep, self.scalar if subqueries and not self.streaming else None)

    def scalar(self, kind: str) -> str:
        """A query of one value."""
        of, alias = self.choices.one(self.named), self.alias()
        return f"(SELECT {self.expressions((alias, of)).aggregate(kind)} FROM {of.text} AS {alias})"

    def condition(self, expressions: Expressions, word: str = " WHERE ") -> str:
        with self.choices.part():
            return word + expressions.condition() if self.choices.below(2) else ""

    def selected(self, made: Expressions, taken: Iterable[str], most: int = 5) -> list[tuple[str, Column]]:
        """Expressions, and the columns that they become: with names that tables have too."""
        names = [each for each in (*NAMES, "x", "y", "z") if each not in taken]
        items = []
        for _ in range(1 + self.choices.below(most)):
            with self.choices.part():
                kind = self.choices.one(made.present((*RESULT_KINDS, *NESTED)))
                name = self.choices.one(names)
                names.remove(name)
                items.append((made.of(kind), Column(name, kind)))
        return items

    # -- queries: their texts, as those that stand in parentheses ------------------------------------------------------

    def query(self, depth: int) -> Rows:
        with self.choices.part():
            return self.choices.one(STREAMING if self.streaming else BATCH)(self, depth)

    def rows(self, depth: int) -> Rows:
        """Columns and expressions of rows, with a condition."""
        of, alias = self.source(depth), self.alias()
        made = self.expressions((alias, of), subqueries=True)
        kept = [each for each in of.columns if each.name in ("id", "k", "ts", "window_start", "window_end")]
        if not self.choices.below(4):
            items = [(each.name, each) for each in of.columns]
        else:
            items = [(each.name, each) for each in kept] + self.selected(made, [each.name for each in kept])
        where = self.condition(made)
        has = [each.name for _, each in items]
        time = of.time and "ts" in has
        return Rows(select(items, f"{of.text} AS {alias}{where}"), columns_of(items), time, of.id and "id" in has)

    def windows_of_rows(self, depth: int) -> Rows:
        of = self.windows()
        alias = self.alias()
        made = self.expressions((alias, of))
        kept = [each for each in of.columns if each.name in ("id", "k", "window_start", "window_end", "window_time")]
        items = [(each.name, each) for each in kept] + self.selected(made, [each.name for each in kept])
        return Rows(select(items, f"{of.text} AS {alias}{self.condition(made)}"), columns_of(items), False, of.id)

    def window_aggregate(self, depth: int) -> Rows:
        """GROUP BY of a window function; its time is an event time again."""
        session = self.streaming and self.choices.chance(6)  # Flink has none in batch
        of, again = self.windows(session), self.choices.chance(3)
        made = self.expressions(("", of))
        keys = [each for each in of.columns if session and each.name == "k"]
        items = [(each.name, each) for each in (*WINDOW, *keys)]
        if again:
            items.append(("window_time", Column("ts", of.kind("window_time"))))
        return self.grouped(of, made, items, again)

    def grouped(self, of: Rows, made: Expressions, fixed: list[tuple[str, Column]], time: bool = False) -> Rows:
        """GROUP BY of the fixed columns and other keys."""
        given = ["id", "ts", *(text for text, _ in fixed)]
        plain = [each for each in of.columns if each.kind in KEYS and each.name not in given]
        keys = [(each.name, each) for each in self.choices.several(plain, self.choices.below(3))]
        if self.choices.chance(4) and not of.has("e"):
            kind = self.choices.one(KEYS)
            keys.append((made.of(kind, 1), Column("e", kind)))
        texts, sets = [text for text, _ in keys], ""
        if len(keys) > 1 and self.choices.chance(3):
            both = ", ".join(texts)
            sets = self.choices.one(
                (f"ROLLUP ({both})", f"CUBE ({both})", f"GROUPING SETS (({texts[0]}), ({both}), ())")
            )
        calls = []
        taken = [column.name for _, column in (*fixed, *keys)]
        names = [each for each in (f"a{at}" for at in range(12)) if each not in taken]
        for name in names[: 1 + self.choices.below(5)]:
            with self.choices.part():
                kind = self.choices.one(made.present(AGGREGATES))
                calls.append((made.aggregate(kind), Column(name, kind)))
        if sets:
            calls.append((f"GROUPING_ID({texts[0]}, {texts[1]})", Column(names[-1], "BIGINT")))
        where = self.condition(made)
        with self.choices.part():
            having = f" HAVING {made.aggregate('BOOLEAN')}" if self.choices.chance(4) else ""
        by = ", ".join([*(text for text, _ in fixed), *([sets] if sets else texts)])
        grouping = f" GROUP BY {by}" if by else ""
        items = [*fixed, *keys, *calls]
        return Rows(select(items, f"{of.text}{where}{grouping}{having}"), columns_of(items), time)

    def aggregate(self, depth: int) -> Rows:
        of = self.source(depth)
        text = of.text if of.name else f"{of.text} AS {self.alias()}"
        return self.grouped(replace(of, text=text), self.expressions(("", of)), [])

    def group_window(self, depth: int) -> Rows:
        of = self.timed("" if self.streaming else "TIMESTAMP")
        window = self.choices.one(GROUP_WINDOWS).format("ts")
        function, inside = window.split("(", 1)
        made = self.expressions(("", of))
        fixed = [
            (f"{function}_START({inside}", Column("ws", "TIMESTAMP")),
            (f"{function}_END({inside}", Column("we", "TIMESTAMP")),
        ]
        found = self.grouped(of, made, fixed)
        by = f"GROUP BY {fixed[0][0]}, {fixed[1][0]}"
        return replace(found, text=found.text.replace(by, f"GROUP BY {window}"))

    def top_n(self, depth: int) -> Rows:
        """The first rows of each partition, without ties."""
        of = nested(self.windows_of_rows(depth)) if self.streaming or self.choices.below(2) else self.source(depth)
        if not of.id:
            of = self.timed()
        made = self.expressions(("", of))
        by = ["window_start", "window_end"] if of.windowed else []
        by += [each.name for each in self.choices.several([each for each in of.columns if each.kind in KEYS], 1)]
        order = made.of(self.choices.one(("INT", "STRING", "DECIMAL", "BIGINT", "DATE")), 1)
        direction = self.choices.one(("", " DESC", " DESC NULLS LAST", " ASC NULLS FIRST"))
        if self.streaming:
            order, direction = "id", self.choices.one(("", " DESC"))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(by)} ORDER BY {order}{direction}, id) AS place"
        rank = rank.replace("id, id", "id").replace("id DESC, id", "id DESC")
        names = ", ".join(each.name for each in of.columns)
        text = f"SELECT {names} FROM (SELECT *, {rank} FROM {of.text}) WHERE place <= {1 + self.choices.below(3)}"
        return Rows(text, of.columns, False, True)

    def first_or_last(self, depth: int) -> Rows:
        """The first or last row by time, of a key or of a key and a window."""
        of = next(each for each in self.named if each.text == "w")
        keys = [each.name for each in self.choices.several([each for each in of.columns if each.kind in KEYS], 1)]
        kept, source = [each for each in of.columns if each.name != "ts"], of.text
        if self.choices.below(2):
            source = f"TABLE({self.choices.one(WINDOWS).format('TABLE w, DESCRIPTOR(ts)')})"
            keys += ["window_start", "window_end"]
            kept += WINDOW
        direction = self.choices.one(("", " DESC"))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY ts{direction}) AS place"
        names = ", ".join(each.name for each in kept)
        text = f"SELECT {names} FROM (SELECT *, {rank} FROM {source}) WHERE place = 1"
        return Rows(text, tuple(kept), False, True)

    def over(self, depth: int) -> Rows:
        of, alias = self.source(depth), self.alias()
        if not of.id or of.windowed or not of.has("k"):
            of = self.timed()
        made = self.expressions((alias, of), subqueries=True)
        items = [(f"{alias}.id", Column("id", "INT"))]
        for at in range(1 + self.choices.below(2)):
            with self.choices.part():
                kind = self.choices.one([each for each in AGGREGATES if each != "BOOLEAN"])
                call = self.choices.one(
                    ("aggregate", "ROW_NUMBER()", "RANK()", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
                )
                frame = ""
                if call == "aggregate":
                    call = self.choices.one([each for each in AGGREGATES[kind] if CALL.fullmatch(each)])
                    call = PLACE.sub(lambda place: made.of(place[1], 1), call.replace("DISTINCT ", ""))
                    frame = self.choices.one(FRAMES)
                elif call in ("ROW_NUMBER()", "RANK()"):
                    kind = "INT"  # BIGINT in Flink
                else:
                    call = f"{call}({made.of(kind, 1)})"
                partition = f"PARTITION BY {alias}.k " if self.choices.below(2) else ""
                items.append((f"{call} OVER ({partition}ORDER BY {alias}.id{frame})", Column(f"o{at}", kind)))
        items += self.selected(made, ("id", "o0", "o1"), 2)
        return Rows(select(items, f"{of.text} AS {alias}{self.condition(made)}"), columns_of(items), False, True)

    def join(self, depth: int) -> Rows:
        left, right = (self.alias(), self.source(depth)), (self.alias(), self.source(depth))
        made = self.expressions(left, right)
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        on = self.equal(left, right)
        if kind == "JOIN":
            on += self.condition(made, " AND ")
        items = self.selected(made, (), 4)
        source = f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"
        return Rows(select(items, source + self.condition(made)), columns_of(items))

    def equal(self, left: tuple[str, Rows], right: tuple[str, Rows]) -> str:
        """That some columns of one kind are equal."""
        pairs = [
            (one.name, other.name)
            for one in left[1].columns
            for other in right[1].columns
            if one.kind == other.kind and one.kind in (*KEYS, "TIMESTAMP", "LTZ") and not one.name.startswith("window")
        ]
        if not pairs:
            return "TRUE"
        one, other = self.choices.one(pairs)
        return f"{left[0]}.{one} = {right[0]}.{other}"

    def using(self, depth: int) -> Rows:
        left, right = self.with_id(), self.with_id()
        others = [each for each in right.columns if each.name != "id" and not left.has(each.name)]
        columns = (*left.columns, *others)
        names = ", ".join(["id", *(each.name for each in others)])
        kind = self.choices.one(("JOIN", "LEFT JOIN"))
        of = Rows("", columns)
        made = Expressions(self.choices, [each for each in columns if each.name != "id"])
        items = [("id", Column("id", "INT")), *self.selected(made, ("id",))]
        aliases = self.alias(), self.alias()
        text = f"{left.text} AS {aliases[0]} {kind} (SELECT {names} FROM {right.text}) AS {aliases[1]} USING (id)"
        return Rows(select(items, text), columns_of(items), False, of.id)

    def window_join(self, depth: int) -> Rows:
        """A join of the same windows of two tables, or of their aggregates."""
        function, time, sides = self.choices.one(WINDOWS), "", list[tuple[str, Rows]]()
        for _ in range(2):
            with self.choices.part():
                of = self.timed(time)
                time = of.kind("ts")
                text = f"TABLE({function.format(f'TABLE {of.text}, DESCRIPTOR(ts)')})"
                of = Rows(text, (*of.columns, *WINDOW), False, of.id)
                items = [(each.name, each) for each in WINDOW]
                if self.choices.below(2):
                    found = self.grouped(of, self.expressions(("", of)), items)
                else:
                    made = self.expressions(("", of))
                    items += [(each.name, each) for each in of.columns if each.name in ("id", "k")]
                    items += self.selected(made, ("id", "k"))
                    found = Rows(select(items, of.text + self.condition(made)), columns_of(items))
                sides.append((self.alias(), nested(found)))
        left, right = sides
        on = " AND ".join(f"{left[0]}.{each.name} = {right[0]}.{each.name}" for each in WINDOW)
        keys = [
            (one.name, other.name)
            for one in left[1].columns
            for other in right[1].columns
            if one.kind == other.kind and one.kind in KEYS
        ]
        if keys:
            one, other = self.choices.one(keys)
            on += f" AND {left[0]}.{one} = {right[0]}.{other}"
        elif self.streaming:
            return self.window_aggregate(depth)
        made = self.expressions(left, right)
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI", "ANTI"))
        if kind in ("SEMI", "ANTI"):
            made = self.expressions(("", left[1]))
            items = self.selected(made, (), 4)
            word = "EXISTS" if kind == "SEMI" else "NOT EXISTS"
            source = (
                f"{left[1].text} AS {left[0]} WHERE {word} (SELECT * FROM {right[1].text} AS {right[0]} WHERE {on})"
            )
            return Rows(select(items, source), columns_of(items))
        items = [
            (f"{side[0]}.{each.name}", Column(f"w{at}{each.name[7]}", each.kind))
            for at, side in enumerate(sides)
            for each in WINDOW
        ]
        items += self.selected(made, ())
        text = f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"
        return Rows(select(items, text), columns_of(items))

    def interval_join(self, depth: int) -> Rows:
        left = self.alias(), self.timed()
        time = left[1].kind("ts")
        right = self.alias(), self.timed(time)
        made = self.expressions(left, right)
        bounds = self.choices.one(
            (
                "{l}.ts BETWEEN {r}.ts - INTERVAL '5' MINUTE AND {r}.ts + INTERVAL '1' MINUTE",
                "{l}.ts >= {r}.ts - INTERVAL '1' MINUTE AND {l}.ts < {r}.ts + INTERVAL '1' MINUTE",
                "{r}.ts > {l}.ts AND {r}.ts <= {l}.ts + INTERVAL '10' MINUTE",
            )
        ).format(l=left[0], r=right[0])
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        items = [
            (f"{left[0]}.ts", Column("lt", time)),
            (f"{right[0]}.ts", Column("rt", time)),
            *self.selected(made, ()),
        ]
        on = f"{self.equal(left, right)} AND {bounds}"
        return Rows(
            select(items, f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"),
            columns_of(items),
        )

    def temporal_join(self, depth: int) -> Rows:
        """With the versions of the table that has a key; on streams only, as in Flink."""
        versions = self.named[len(self.world.tables) - 1]
        alike = [each for each in self.named if each.time and each.kind("ts") == versions.kind("ts")]
        alike = [each for each in alike if each.kind("k") == versions.kind("k")]
        of, alias, other = self.choices.one(alike), self.alias(), self.alias()
        made = self.expressions((alias, of), (other, versions))
        items = [(f"{alias}.id", Column("id", "INT")), *self.selected(made, ("id",))]
        kind = self.choices.one(("JOIN", "LEFT JOIN"))
        text = f"{of.text} AS {alias} {kind} p FOR SYSTEM_TIME AS OF {alias}.ts AS {other} ON {alias}.k = {other}.k"
        return Rows(select(items, text), columns_of(items))

    def subquery(self, depth: int) -> Rows:
        """IN, NOT IN, EXISTS of a query."""
        of, alias = self.source(depth), self.alias()
        inner, other = self.choices.one(self.named), self.alias()
        made = self.expressions((alias, of))
        items = self.selected(made, ())
        inside = self.expressions((other, inner))
        kind = self.choices.one(("INT", "STRING", "DECIMAL", "BIGINT"))
        query = f"SELECT {inside.of(kind)} FROM {inner.text} AS {other}{self.condition(inside)}"
        alike = f"SELECT * FROM {inner.text} AS {other} WHERE {self.equal((alias, of), (other, inner))}"
        test = self.choices.one(
            (
                f"{made.of(kind, 1)} IN ({query})",
                f"{made.of(kind, 1)} NOT IN ({query})",
                f"EXISTS ({alike})",
                f"NOT EXISTS ({alike}{self.condition(inside, ' AND ')})",
            )
        )
        return Rows(
            select(items, f"{of.text} AS {alias} WHERE {test}{self.condition(made, ' AND ')}"), columns_of(items)
        )

    def distinct(self, depth: int) -> Rows:
        found = self.rows(depth)
        return replace(found, text=found.text.replace("SELECT ", "SELECT DISTINCT ", 1), time=False, id=False)

    def set_operation(self, depth: int) -> Rows:
        kinds = [self.choices.one(RESULT_KINDS) for _ in range(1 + self.choices.below(3))]
        names = [Column(f"u{at}", kind) for at, kind in enumerate(kinds)]
        queries = []
        for _ in range(2):
            with self.choices.part():
                of, alias = self.source(depth), self.alias()
                made = self.expressions((alias, of))
                items = [(made.of(each.kind), each) for each in names]
                queries.append(select(items, f"{of.text} AS {alias}{self.condition(made)}"))
        word = (
            "UNION ALL"
            if self.streaming
            else self.choices.one(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"))
        )
        return Rows(f"{queries[0]} {word} {queries[1]}", tuple(names))

    def union_of_tables(self, depth: int) -> Rows:
        """Two tables as one, with an event time."""
        one, other = self.timed(), self.timed()
        kinds = {each.name: each.kind for each in one.columns}
        shared = [
            each for each in other.columns if kinds.get(each.name) == each.kind and not each.kind.startswith("ROW")
        ]
        names = ", ".join(each.name for each in shared)
        if not {"id", "ts"} <= {each.name for each in shared}:
            return self.rows(depth)
        text = f"SELECT {names} FROM {one.text} UNION ALL SELECT {names} FROM {other.text}"
        return Rows(text, tuple(shared), True, False)

    def unnested(self, depth: int) -> Rows:
        of, alias, other = self.with_id(), self.alias(), self.alias()
        made = self.expressions((alias, of))
        kind = self.choices.one(("INT", "STRING"))
        array = made.of(f"ARRAY<{kind}>", 1)
        join = self.choices.one(
            (
                f"CROSS JOIN UNNEST({array}) AS {other} (x)",
                f", UNNEST({array}) AS {other} (x)",
                f"LEFT JOIN UNNEST({array}) AS {other} (x) ON TRUE",
            )
        )
        items = [
            (f"{alias}.id", Column("id", "INT")),
            (f"{other}.x", Column("x", kind)),
            *self.selected(made, ("id", "x"), 2),
        ]
        return Rows(select(items, f"{of.text} AS {alias} {join}").replace(" , UNNEST", ", UNNEST"), columns_of(items))

    def lateral(self, depth: int) -> Rows:
        of, alias, other = self.choices.one(self.named), self.alias(), self.alias()
        inner, inside = self.choices.one(self.named), self.alias()
        made, within = self.expressions((alias, of)), self.expressions((inside, inner))
        items = self.selected(within, (), 2)
        where = f" WHERE {self.equal((inside, inner), (alias, of))}{self.condition(within, ' AND ')}"
        query = select(items, f"{inner.text} AS {inside}{where}")
        chosen = [(f"{other}.{each.name}", each) for _, each in items]
        chosen += self.selected(made, [each.name for _, each in items], 2)
        return Rows(select(chosen, f"{of.text} AS {alias}, LATERAL ({query}) AS {other}"), columns_of(chosen))

    def values(self, depth: int) -> Rows:
        kinds = [self.choices.one(("INT", "STRING", "DECIMAL", "BOOLEAN")) for _ in range(2)]
        made = Expressions(self.choices, ())
        rows = ", ".join(f"({', '.join(made.of(kind, 0) for kind in kinds)})" for _ in range(1 + self.choices.below(3)))
        columns = tuple(Column(name, kind) for name, kind in zip(("a", "b"), kinds, strict=True))
        return Rows(f"SELECT a, b FROM (VALUES {rows}) AS {self.alias()} (a, b)", columns)

    def limited(self, depth: int) -> Rows:
        """ORDER BY with LIMIT, without ties."""
        of = self.timed()
        made = self.expressions(("", of))
        items = [("id", Column("id", "INT")), *self.selected(made, ("id",))]
        order = made.of(self.choices.one(("INT", "STRING", "TIMESTAMP", "DECIMAL")), 1) + self.choices.one(
            ("", " DESC")
        )
        order = "" if order[0] in "'-0123456789" else f"{order}, "
        where = self.condition(made)
        return Rows(
            f"{select(items, of.text)}{where} ORDER BY {order}id LIMIT {1 + self.choices.below(9)}",
            columns_of(items),
            False,
            True,
        )

    # -- the whole -----------------------------------------------------------------------------------------------------

    def view(self) -> None:
        """Add a view, which later queries can read."""
        with self.choices.part():
            name = f"v{len(self.views)}"
            found = self.query(1)
            self.views.append(f"CREATE VIEW {name} AS {found.text}")
            self.named.append(replace(found, text=name, name=True))

    def stored(self) -> str:
        """What INSERTs of one or two queries have stored. Their tables have one list of columns."""
        kinds = [self.choices.one(RESULT_KINDS) for _ in range(1 + self.choices.below(4))]
        columns = [Column(f"c{at}", kind) for at, kind in enumerate(kinds)]
        declared = ", ".join(f"{each.name} {self.choices.one(STORED[each.kind])}" for each in columns)
        queries = []
        for _ in range(1 + self.choices.below(2)):
            with self.choices.part():
                of, alias = self.source(1), self.alias()
                made = self.expressions((alias, of))
                items = [(made.of(each.kind), each) for each in columns]
                queries.append(select(items, f"{of.text} AS {alias}{self.condition(made)}"))
        inserts = [f"INSERT INTO o{at} {query}" for at, query in enumerate(queries)]
        for at in range(len(queries)):
            self.inserts += [f"DROP TABLE IF EXISTS o{at}", f"CREATE TABLE o{at} ({declared}) {SINK % f'o{at}'}"]
        whole_set = f"EXECUTE STATEMENT SET BEGIN {'; '.join(inserts)}; END"
        self.inserts += [whole_set] if len(inserts) > 1 else inserts
        return " UNION ALL ".join(f"SELECT {at} AS o, * FROM o{at}" for at in range(len(queries)))

    def whole(self) -> str:
        """The views that are read, and a query with the CTEs that are read."""
        for _ in range(self.choices.below(3)):
            self.view()
        stores = not self.streaming and self.choices.chance(8)
        made: dict[str, str] = {}
        for _ in range(0 if stores else self.choices.below(3)):
            with self.choices.part():
                found, name = self.query(1), f"c{len(made)}"
                made[name] = found.text
                self.named.append(replace(found, text=name, name=True))
        found = Rows(self.stored(), ()) if stores else self.query(2)
        text, self.columns = found.text, found.columns
        ctes = [f"{name} AS ({cte})" for name, cte in read_of(made, text).items()]
        text = f"WITH {', '.join(ctes)} {text}" if ctes else text
        views = {view.split()[2]: view for view in self.views}
        self.views = [*read_of(views, " ".join([text, *self.inserts])).values()]
        return text


def read_of(named: dict[str, str], text: str) -> dict[str, str]:
    """The queries that the text reads by their names, or that those read."""
    read = ""
    for name, query in reversed(named.items()):
        if mentions(f"{text} {read}", name):
            read = f"{query} {read}"
    return {name: query for name, query in named.items() if query in read}


Form = Callable[[Script, int], Rows]
STREAMING: tuple[Form, ...] = (
    Script.rows,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.windows_of_rows,
    Script.group_window,
    Script.top_n,
    Script.first_or_last,
    Script.window_join,
    Script.window_join,
    Script.interval_join,
    Script.temporal_join,
    Script.union_of_tables,
    Script.set_operation,
    Script.unnested,
)
BATCH: tuple[Form, ...] = (
    Script.rows,
    Script.rows,
    Script.aggregate,
    Script.aggregate,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.windows_of_rows,
    Script.group_window,
    Script.top_n,
    Script.first_or_last,
    Script.over,
    Script.over,
    Script.join,
    Script.using,
    Script.window_join,
    Script.interval_join,
    Script.subquery,
    Script.subquery,
    Script.distinct,
    Script.set_operation,
    Script.union_of_tables,
    Script.unnested,
    Script.lateral,
    Script.values,
    Script.limited,
)


def select(items: Iterable[tuple[str, Column]], source: str) -> str:
    chosen = ", ".join(text if text == column.name else f"{text} AS {column.name}" for text, column in items)
    return f"SELECT {chosen} FROM {source}"


def columns_of(items: Iterable[tuple[str, Column]]) -> tuple[Column, ...]:
    return tuple(column for _, column in items)


def nested(rows: Rows) -> Rows:
    return replace(rows, text=f"({rows.text})", name=False, time=False)


world_of = lru_cache(maxsize=4)(random_world)


class RandomScript(NamedTuple):
    """A script, the choices that made it, and the columns of its result. They are unknown where it stores rows."""

    script: Situation
    made: Tree
    columns: tuple[Column, ...]


def random_script(seed: int, mode: str, given: Tree | None = None) -> RandomScript:
    """The script of a seed, or of choices that are given."""
    world = world_of(seed // SCRIPTS_OF_A_WORLD)
    choices = Choices(seed, given)
    script = Script(choices, world, mode == "streaming")
    sql = script.whole()
    text = " ".join([*script.views, *script.inserts, sql])
    tables = [each.table for each in world.tables if mode == "batch" or mentions(text, each.table.name)]
    made = Situation(
        "random",
        str(seed),
        "",
        sql,
        tuple(tables),
        tuple(script.views),
        (mode,),
        world.zone,
        inserts=tuple(script.inserts),
    )
    return RandomScript(made, choices.made, script.columns)
