"""Random queries that compose windows, in SQL that tvfsql and DuckDB both take, but for the window functions: there
DuckDB gets each row once for each of its windows.

No query depends on the order in which rows come. A seed makes the same queries always.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

START = datetime(1969, 12, 31, 23, 59, 30)  # times before 1970 are negative
TABLES = {
    "t": "id BIGINT, k INT, s STRING, f BOOLEAN, n INT, p DECIMAL(10,2), ts TIMESTAMP(3)",
    "u": "id BIGINT, k INT, s STRING, f BOOLEAN, n INT, p DECIMAL(10,2), ts TIMESTAMP(3)",
}
Columns = tuple[tuple[str, str], ...]  # names and kinds
OF_TABLE: Columns = tuple((part.split()[0], part.split()[1].partition("(")[0]) for part in TABLES["t"].split(", "))
BOUNDS: Columns = (("window_start", "TIMESTAMP"), ("window_end", "TIMESTAMP"))
KEYS = ("INT", "STRING", "BOOLEAN")
CALL = re.compile(r"\{(\w+) (\w+) (-?\d+) (-?\d+) (-?\d+)\}")  # a window function, its table and times in ms
# slide or step, size, offset
HOPS = (
    (2000, 10_000, 0),
    (3000, 10_000, 0),
    (4000, 6000, 1000),
    (7000, 7000, -3000),
    (5000, 60_000, 0),
    (9000, 4000, 0),
)
CUMULATES = ((2000, 10_000, 0), (5000, 20_000, -7000), (10_000, 10_000, 0))
TUMBLES = ((1000, 1000, 0), (10_000, 10_000, 0), (7500, 7500, 1234))


def random_rows(seed: int, count: int = 60) -> list[dict[str, Any]]:
    """Rows of a table in the order of their times, of which several can be equal; a fifth of their values is NULL."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.2 else value

    rows = []
    for id_, ms in enumerate(sorted(draw.randrange(90_000) for _ in range(count))):
        row = {"id": id_, "k": maybe(draw.randrange(3)), "s": maybe(draw.choice("ab")), "f": maybe(draw.random() < 0.5)}
        row |= {"n": maybe(draw.randrange(-5, 9)), "p": maybe(f"{draw.randrange(-500, 900) / 100:.2f}")}
        rows.append({**row, "ts": (START + timedelta(milliseconds=ms)).isoformat(" ", "milliseconds")})
    return rows


def for_tvfsql(text: str) -> str:
    return CALL.sub(_call, text)


def for_duckdb(text: str) -> str:
    return CALL.sub(_copies, text)


def _call(found: re.Match[str]) -> str:
    name, table, *ms = found.groups()
    step, size, offset = (f"INTERVAL '{int(each) / 1000:.3f}' SECOND" for each in ms)
    times = [size] if name == "TUMBLE" else [step, size]
    return f"TABLE({name}(TABLE {table}, DESCRIPTOR(ts), {', '.join([*times, offset])}))"


def _copies(found: re.Match[str]) -> str:
    """The rows of a table, once for each window that they are in: between the first and the last end, step by step."""
    name, table = found[1], found[2]
    step, size, offset = (int(each) * 1000 for each in found.groups()[2:])
    us = "epoch_us(ts)"

    def aligned(value: str, width: int) -> str:  # down to a multiple of the width, after the offset
        over = f"({value} - ({offset})) % {width}"
        return f"({value} - (({over}) + {width}) % {width})"

    if name == "CUMULATE":
        start, end = aligned(us, size), "w"
        ends = f"range({aligned(us, step)} + {step}, {start} + {size} + 1, {step})"
    else:
        ends = f"range({aligned(f'({us} - {size})', step)} + {step} + {size}, {aligned(us, step)} + {size} + 1, {step})"
        start, end = f"w - {size}", "w"
    made = ", ".join(
        f"make_timestamp(CAST({value} AS BIGINT)) AS {column}"
        for column, value in (("window_start", start), ("window_end", end), ("window_time", f"{end} - 1000"))
    )
    return f"(SELECT * EXCLUDE (w), {made} FROM (SELECT *, unnest({ends}) AS w FROM {table}))"


@dataclass(frozen=True)
class Query:
    """A SELECT, its columns, and whether they have the bounds of windows and an event time `ts`."""

    text: str
    columns: Columns
    timed: bool = False
    name: str = ""  # of a table or a view

    @property
    def windowed(self) -> bool:
        return {"window_start", "window_end"} <= {name for name, _ in self.columns}

    @property
    def source(self) -> str:
        return self.name or f"({self.text})"

    def of(self, *kinds: str) -> list[str]:
        bounds = {name for name, _ in BOUNDS}
        return [name for name, kind in self.columns if kind in kinds and name not in bounds]


@dataclass
class Composer:
    """Queries in the making. `views` are those made so far, by name; `leaf` is what all queries read, if given."""

    draw: random.Random
    views: dict[str, str] = field(default_factory=dict)
    leaf: Query | None = None
    streaming: bool = False
    aliases: int = 0

    # -- parts ---------------------------------------------------------------------------------------------------------

    def alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"

    def name(self) -> str:
        """Of a column."""
        return self.alias().replace("q", "a")

    def one(self, choices: Sequence[Any]) -> Any:
        return self.draw.choice(list(choices))

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def condition(self, query: Query, before: str = "") -> str:
        name, kind = self.one(query.columns)
        column, number = f"{before}{name}", self.draw.randrange(-3, 6)
        if kind in ("INT", "BIGINT", "DECIMAL"):
            forms = ("{c} > {n}", "{c} <= {n}", "{c} IS NULL", "({c} = {n} OR {c} IS NULL)", "{c} NOT IN ({n}, 1)")
        elif kind == "STRING":
            forms = ("{c} = 'a'", "{c} IS NOT NULL", "COALESCE({c}, 'z') <> 'b'", "{c} IN ('a', 'c')")
        elif kind == "BOOLEAN":
            forms = ("{c}", "NOT {c}", "{c} IS NOT TRUE")
        else:
            at = (START + timedelta(seconds=self.draw.randrange(90))).isoformat(" ")
            forms = tuple(f"{{c}} {sign} TIMESTAMP '{at}'" for sign in ("<", ">=", ">"))
        return str(self.one(forms)).format(c=column, n=number)

    def where(self, query: Query, before: str = "", word: str = "WHERE") -> str:
        return f" {word} {self.condition(query, before)}" if self.chance(0.25) else ""

    def call(self, query: Query) -> tuple[str, str]:
        """An aggregate and the kind of its result."""
        numbers, texts = query.of("INT", "BIGINT"), query.of("STRING")
        calls = [("COUNT(*)", "BIGINT")]
        for name in numbers:
            calls += [(f"{f}({name})", "BIGINT") for f in ("SUM", "MIN", "MAX", "COUNT")]
            calls += [(f"COUNT(DISTINCT {name})", "BIGINT"), (f"SUM(DISTINCT {name})", "BIGINT")]
            calls += [(f"SUM(CASE WHEN {name} > 1 THEN {name} ELSE 0 END)", "BIGINT")]
        calls += [(f"{f}({name})", "DECIMAL") for name in query.of("DECIMAL") for f in ("SUM", "MIN", "SUM")]
        calls += [(f"{f}({name})", "STRING") for name in texts for f in ("MIN", "MAX")]
        call, kind = self.one(calls)
        if self.chance(0.3):
            call = f"{call} FILTER (WHERE {self.condition(query)})"
        return call, kind

    # -- queries -------------------------------------------------------------------------------------------------------

    def rows(self) -> Query:
        """Rows with an event time: a table, or both as one, or a view of them."""
        table = self.one([*TABLES])
        plain = Query(f"SELECT * FROM {table}", OF_TABLE, True, table)
        if self.chance(0.5):
            return plain
        columns = ", ".join(name for name, _ in OF_TABLE)
        text = f"SELECT {columns} FROM {table}{self.where(plain)}"
        if self.chance(0.4):
            text = f"SELECT {columns} FROM t{self.where(plain)} UNION ALL SELECT {columns} FROM u{self.where(plain)}"
        return self.view(Query(text, OF_TABLE, True))

    def view(self, query: Query) -> Query:
        name = f"v{len(self.views)}"
        self.views[name] = query.text
        return replace(query, name=name, text=f"SELECT * FROM {name}")

    def window(self, of: Query) -> Query:
        kind, times = self.one((("TUMBLE", TUMBLES), ("HOP", HOPS), ("HOP", HOPS), ("CUMULATE", CUMULATES)))
        step, size, offset = self.one(times)
        kept = tuple(part for part in of.columns if part not in BOUNDS)
        source = f"{{{kind} {of.name} {step} {size} {offset}}}"
        return Query(source, (*kept, *BOUNDS, ("window_time", "TIMESTAMP")), False, source)

    def windows(self) -> Query:
        """A window aggregate."""
        of = self.rows() if self.chance(0.75) else self.again()
        return self.grouped(self.window(of))

    def again(self) -> Query:
        """A window aggregate as rows with an event time, for windows over it."""
        inner = self.grouped(self.window(self.rows()), time=True)
        return self.view(inner)

    def grouped(self, of: Query, time: bool = False) -> Query:
        possible = of.of(*KEYS)
        keys = self.draw.sample(possible, min(self.draw.randrange(3), len(possible)))
        kinds = dict(of.columns)
        columns = [*([] if time else BOUNDS), *((key, kinds[key]) for key in keys)]
        calls = []
        for _ in range(1 + self.draw.randrange(3)):
            (call, kind), name = self.call(of), self.name()
            calls.append(f"{call} AS {name}")
            columns.append((name, kind))
        by = ", ".join(("window_start", "window_end", *(["window_time"] if time else []), *keys))
        if len(keys) == 2 and not time and self.chance(0.4):
            one, other = keys
            sets = self.one(
                (f"CUBE ({one}, {other})", f"ROLLUP ({one}, {other})", f"GROUPING SETS (({one}), ({other}), ())")
            )
            by = f"window_start, window_end, {sets}"
            calls.append(f"GROUPING({other}) AS {(name := self.name())}")
            columns.append((name, "BIGINT"))
        if time:
            columns.append(("ts", "TIMESTAMP"))
        having = f" HAVING COUNT(*) > {self.draw.randrange(3)}" if self.chance(0.3) else ""
        stamp = ["window_time AS ts"] if time else []
        bounds = [] if time else ["window_start", "window_end"]
        selected = ", ".join([*bounds, *keys, *calls, *stamp])
        text = f"SELECT {selected} FROM {of.source}{self.where(of)} GROUP BY {by}{having}"
        return Query(text, tuple(columns), time)

    def query(self, depth: int) -> Query:
        """A query with the bounds of windows."""
        if not depth:
            return self.leaf or self.windows()
        forms = (
            self.filtered,
            self.regrouped,
            self.joined,
            self.joined,
            self.top,
            self.extreme,
            self.union,
            self.within,
        )
        made: Query = self.one(forms)(depth)
        return made

    def filtered(self, depth: int) -> Query:
        of = self.query(depth - 1)
        more = self.name()
        names = ", ".join(
            [*(name for name, _ in of.columns), *(f"{name} + 1 AS {more}" for name in of.of("BIGINT")[:1])]
        )
        columns = (*of.columns, *((more, "BIGINT") for _ in of.of("BIGINT")[:1]))
        return Query(f"SELECT {names} FROM {of.source} AS {self.alias()} WHERE {self.condition(of)}", columns)

    def regrouped(self, depth: int) -> Query:
        return replace(self.grouped(replace(self.query(depth - 1), name="")), timed=False)

    def top(self, depth: int) -> Query:
        """Ranks whose order has no ties but among equal rows."""
        of = self.query(depth - 1)
        keys = self.draw.sample(of.of(*KEYS), min(1, len(of.of(*KEYS))))
        order = [name for name, _ in of.columns if name not in ("window_start", "window_end")]
        self.draw.shuffle(order)
        words = [f"{name} {self.one(('ASC', 'DESC'))} {self.one(('NULLS FIRST', 'NULLS LAST'))}" for name in order]
        by = ", ".join(("window_start", "window_end", *keys))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {', '.join(words)}) AS place"
        names = ", ".join(name for name, _ in of.columns)
        inner = f"SELECT {names}, {rank} FROM {of.source} AS {self.alias()}"
        limit = 1 + self.draw.randrange(3)
        return Query(f"SELECT {names} FROM ({inner}) AS {self.alias()} WHERE place <= {limit}", of.columns)

    def sides(self, depth: int) -> tuple[Query, Query, str, str]:
        """Two queries of one window, often the same one."""
        left = self.query(depth - 1)
        left = left if left.name else self.view(left)
        right = left if self.chance(0.5) else self.leaf or self.grouped(replace(left, timed=False))
        return left, right, self.alias(), self.alias()

    def joined(self, depth: int) -> Query:
        left, right, one, other = self.sides(depth)
        pairs = [
            (mine, theirs)
            for mine, kind in left.columns
            for theirs, of in right.columns
            if kind == of and kind in ("INT", "STRING") and (mine, kind) not in BOUNDS
        ]
        on = f"{one}.window_start = {other}.window_start AND {one}.window_end = {other}.window_end"
        if pairs and (self.streaming or self.chance(0.8)):
            mine, theirs = self.one(pairs)
            on += f" AND {one}.{mine} = {other}.{theirs}"
        kind = self.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        if not self.streaming or kind == "JOIN":
            on += self.where(right, f"{other}.", "AND")
        bounds = [
            f"COALESCE({one}.{name}, {other}.{name}) AS {name}" if kind == "FULL JOIN" else f"{side}.{name} AS {name}"
            for side in [other if kind == "RIGHT JOIN" else one]
            for name, _ in BOUNDS
        ]
        others = [(f"{one}.{name}", (self.name(), of)) for name, of in left.columns if (name, of) not in BOUNDS]
        others += [(f"{other}.{name}", (self.name(), of)) for name, of in right.columns if (name, of) not in BOUNDS]
        chosen = self.draw.sample(others, min(4, len(others)))
        selected = ", ".join([*bounds, *(f"{text} AS {column[0]}" for text, column in chosen)])
        text = f"SELECT {selected} FROM {left.source} AS {one} {kind} {right.source} AS {other} ON {on}"
        return Query(text, (*BOUNDS, *(column for _, column in chosen)))

    def within(self, depth: int) -> Query:
        """EXISTS, NOT EXISTS, IN and NOT IN of the same windows."""
        left, right, one, other = self.sides(depth)
        same = f"{one}.window_start = {other}.window_start AND {one}.window_end = {other}.window_end"
        numbers = [(mine, theirs) for mine in left.of("BIGINT") for theirs in right.of("BIGINT")]
        names = ", ".join(f"{one}.{name}" for name, _ in left.columns)
        inside = f"{right.source} AS {other} WHERE {same}{self.where(right, f'{other}.', 'AND')}"
        if numbers and self.chance(0.5):
            mine, theirs = self.one(numbers)
            test = f"{one}.{mine} {self.one(('IN', 'NOT IN'))} (SELECT {other}.{theirs} FROM {inside})"
        elif numbers:
            mine, theirs = self.one(numbers)
            test = f"{self.one(('', 'NOT '))}EXISTS (SELECT * FROM {inside} AND {one}.{mine} = {other}.{theirs})"
        else:
            return self.filtered(depth)
        return Query(f"SELECT {names} FROM {left.source} AS {one} WHERE {test}", left.columns)

    def extreme(self, depth: int) -> Query:
        """The rows with the greatest value of their window."""
        of = self.query(depth - 1)
        if not of.of("BIGINT"):
            return self.filtered(depth)
        of, name = (of if of.name else self.view(of)), self.one(of.of("BIGINT"))
        one, other = self.alias(), self.alias()
        most = (
            f"SELECT window_start, window_end, MAX({name}) AS most FROM {of.source} GROUP BY window_start, window_end"
        )
        names = ", ".join(f"{one}.{each}" for each, _ in of.columns)
        on = f"{one}.window_start = {other}.window_start AND {one}.window_end = {other}.window_end"
        text = (
            f"SELECT {names} FROM {of.source} AS {one} JOIN ({most}) AS {other} ON {on} AND {one}.{name} = {other}.most"
        )
        return Query(text, of.columns)

    def union(self, depth: int) -> Query:
        of = self.query(depth - 1)
        of = of if of.name else self.view(of)
        names = ", ".join(name for name, _ in of.columns)
        word = "UNION ALL" if self.streaming else self.one(("UNION ALL", "UNION", "EXCEPT", "INTERSECT"))
        parts = (f"SELECT {names} FROM {of.source} AS {self.alias()}{self.where(of)}" for _ in range(2))
        return Query(f" {word} ".join(parts), of.columns)


def composed_query(seed: int) -> tuple[dict[str, str], str]:
    """Views by name, and a query over them."""
    composer = Composer(random.Random(seed))
    query = composer.query(1 + composer.draw.randrange(3))
    return composer.views, query.text


def composed_set(seed: int, streaming: bool) -> tuple[dict[str, str], list[Query]]:
    """Views by name, and the queries of INSERTs, which all read the last view of the first ones."""
    composer = Composer(random.Random(seed), streaming=streaming)
    composer.leaf = composer.view(replace(composer.windows(), timed=False))
    return composer.views, [
        composer.query(1 + composer.draw.randrange(2)) for _ in range(2 + composer.draw.randrange(2))
    ]


def bag(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Rows to compare, whatever types numbers and times have."""

    def plain(value: Any) -> Any:
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return value
        if isinstance(value, datetime):
            return value.isoformat(" ", "milliseconds")
        return round(float(value), 6)

    return sorted(str([plain(value) for value in row]) for row in rows)
