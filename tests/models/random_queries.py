"""Random queries over one table, of any form that the grammar has around windows: expressions, filters, aggregates with
FILTER and DISTINCT, grouping sets, HAVING, ranks, windows over windows, window joins, joins with own extremes.

No query depends on the order of its rows: times and ids differ from row to row. No expression overflows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

COLUMNS = "id BIGINT, ts TIMESTAMP(3), k STRING, s STRING, n INT, b BIGINT, p DECIMAL(10, 2), f BOOLEAN"
START = datetime(2024, 2, 29, 23, 50)
SECONDS = 1800  # how much time the rows cover
WINDOW = "window_start, window_end"
DEPTH = 2  # of expressions


def random_lines(draw: random.Random, count: int) -> str:
    """Rows as JSON lines, in the order of their times. A third of their values is NULL."""

    def maybe(value: Any) -> Any:
        return None if draw.random() < 1 / 3 else value

    made = []
    for i, ms in enumerate(sorted(draw.sample(range(SECONDS * 1000), count))):
        row = {
            "id": i,
            "ts": (START + timedelta(milliseconds=ms)).isoformat(" ", "milliseconds"),
            "k": maybe(draw.choice("ab")),
            "s": maybe(draw.choice(["", "a", "ab", "b%", "A_", " a ", "é"])),
            "n": maybe(draw.randrange(-20, 20)),
            "b": maybe(draw.randrange(-(10**6), 10**6)),
            "p": maybe(f"{draw.randrange(-9999, 9999) / 100:.2f}"),
            "f": maybe(draw.random() < 0.5),
        }
        made.append(json.dumps(row) + "\n")
    return "".join(made)


@dataclass(frozen=True)
class Grammar:
    """Draws expressions of a type, as SQL texts, and lists of them."""

    draw: random.Random
    depth: int = DEPTH

    def number(self) -> str:
        """An INT."""
        return self._one(
            ("n", "0", str(self.draw.randrange(-9, 9))),
            lambda g: f"({g.number()} {g.draw.choice('+-')} {g.number()})",
            lambda g: f"({g.number()} * 3)",
            lambda g: f"MOD({g.number()}, 7)",
            lambda g: f"ABS({g.number()})",
            lambda g: f"CHAR_LENGTH({g.text()})",
            lambda g: f"COALESCE({g.number()}, {g.number()})",
            lambda g: f"NULLIF({g.number()}, {g.number()})",
            lambda g: f"CASE WHEN {g.condition()} THEN {g.number()} ELSE {g.number()} END",
            lambda g: f"CASE {g.text()} WHEN 'a' THEN {g.number()} WHEN {g.text()} THEN 2 END",
            lambda g: f"CAST(EXTRACT(MINUTE FROM {g.time()}) AS INT)",
        )

    def text(self) -> str:
        """A STRING."""
        return self._one(
            ("k", "s", "'a'", "'%'"),
            lambda g: f"UPPER({g.text()})",
            lambda g: f"({g.text()} || {g.text()})",
            lambda g: f"SUBSTRING({g.text()} FROM 2)",
            lambda g: f"TRIM({g.text()})",
            lambda g: f"REPLACE({g.text()}, 'a', 'bb')",
            lambda g: f"CAST({g.number()} AS STRING)",
            lambda g: f"DATE_FORMAT({g.time()}, 'HH:mm')",
            lambda g: f"COALESCE({g.text()}, {g.text()})",
            lambda g: f"IF({g.condition()}, {g.text()}, {g.text()})",
        )

    def time(self) -> str:
        """A TIMESTAMP."""
        return self._one(
            ("ts",),
            lambda g: f"({g.time()} + INTERVAL '90' SECOND)",
            lambda g: f"TIMESTAMPADD(MINUTE, {g.number()}, {g.time()})",
            lambda g: f"FLOOR({g.time()} TO HOUR)",
        )

    def amount(self) -> str:
        """A DECIMAL."""
        return self._one(("p", "1.50"), lambda g: f"({g.amount()} + {g.number()})", lambda g: f"ROUND({g.amount()}, 1)")

    def condition(self) -> str:
        """A BOOLEAN, which may be NULL."""
        return self._one(
            ("f", "n > 0", "s = 'a'", "k IS NULL"),
            lambda g: f"({g.number()} {g.draw.choice(('=', '<>', '<', '<=', '>', '>='))} {g.number()})",
            lambda g: f"({g.text()} {g.draw.choice(('=', '<>', '<', '>='))} {g.text()})",
            lambda g: f"({g.text()} {g.draw.choice(('', 'NOT '))}LIKE '{g.draw.choice(('a%', '%a%', '_', 'b~%'))}')",
            lambda g: f"({g.text()} IN ('a', {g.text()}, 'ab'))",
            lambda g: f"({g.number()} NOT IN (1, {g.number()}))",
            lambda g: f"({g.number()} BETWEEN {g.number()} AND 5)",
            lambda g: f"({g.number()} IS {g.draw.choice(('', 'NOT '))}DISTINCT FROM {g.number()})",
            lambda g: (
                f"({g.condition()} IS {g.draw.choice(('', 'NOT '))}{g.draw.choice(('TRUE', 'FALSE', 'UNKNOWN'))})"
            ),
            lambda g: f"({g.condition()} {g.draw.choice(('AND', 'OR'))} {g.condition()})",
            lambda g: f"(NOT {g.condition()})",
            lambda g: f"({g.time()} >= TIMESTAMP '2024-03-01 00:00:00')",
            lambda g: f"({g.amount()} < {g.amount()})",
        )

    def aggregate(self) -> str:
        """A call of an aggregate function."""
        call = self.draw.choice(
            (
                "COUNT(*)",
                f"COUNT({self.text()})",
                f"COUNT(DISTINCT {self.number()})",
                f"SUM({self.number()})",
                f"SUM(DISTINCT {self.number()})",
                "SUM(b)",
                "AVG(b)",
                f"SUM({self.amount()})",
                f"MIN({self.text()})",
                f"MAX({self.time()})",
                f"MAX({self.number()})",
                f"LISTAGG({self.text()})",
                "FIRST_VALUE(s)",
                "LAST_VALUE(n)",
            )
        )
        return f"{call} FILTER (WHERE {self.condition()})" if self.draw.random() < 1 / 4 else call

    def row(self, count: int = 3) -> list[str]:
        """Expressions of any type."""
        kinds = (self.number, self.text, self.time, self.amount, self.condition)
        return [self.draw.choice(kinds)() for _ in range(count)]

    def maybe(self, clause: str) -> str:
        """A clause with a condition (`WHERE`), or nothing."""
        return f" {clause} {self.condition()}" if self.draw.random() < 1 / 2 else ""

    def _one(self, leaves: tuple[str, ...], *nodes: Callable[[Grammar], str]) -> str:
        if not self.depth or self.draw.random() < 1 / 4:
            return self.draw.choice(leaves)
        return self.draw.choice(nodes)(Grammar(self.draw, self.depth - 1))


Query = Callable[[str], str]  # the text of a query whose window function, such as TUMBLE(TABLE t, ...), is the argument


def random_query(draw: random.Random, forms: Sequence[str] = ()) -> tuple[str, Query]:
    """The name of one of these forms (none: of all), and a query of that form. It has at least one window function,
    and always the same one."""
    name = draw.choice(list(forms or FORMS))
    return name, FORMS[name](Grammar(draw))


def _rows(g: Grammar) -> Query:
    columns, where = _named(g.row()), g.maybe("WHERE")
    return lambda window: f"SELECT id, {columns}, {WINDOW}, window_time FROM TABLE({window}){where}"


def _distinct(g: Grammar) -> Query:
    columns, where = _named(g.row(2)), g.maybe("WHERE")
    return lambda window: f"SELECT DISTINCT {columns}, {WINDOW} FROM TABLE({window}){where}"


def _aggregates(g: Grammar) -> Query:
    keys = g.draw.sample(("k", "f", "MOD(n, 3)", g.text()), g.draw.randrange(3))
    calls, where = _named([g.aggregate() for _ in range(3)]), g.maybe("WHERE")
    having = g.draw.choice(("", "", f" HAVING COUNT(*) > {g.draw.randrange(4)}", " HAVING SUM(n) IS NOT NULL"))
    selected = "".join(f"{key} AS k{i}, " for i, key in enumerate(keys))
    grouped = ", ".join((WINDOW, *keys))
    return lambda window: f"SELECT {selected}{WINDOW}, {calls} FROM TABLE({window}){where} GROUP BY {grouped}{having}"


def _grouping_sets(g: Grammar) -> Query:
    calls, where = _named([g.aggregate() for _ in range(2)]), g.maybe("WHERE")
    sets = g.draw.choice(("ROLLUP (k, f)", "CUBE (k, f)", "GROUPING SETS ((k), (f), ())"))
    return lambda window: (
        f"SELECT k, f, GROUPING_ID(k, f) AS g, {WINDOW}, {calls} FROM TABLE({window}){where} GROUP BY {WINDOW}, {sets}"
    )


def _top_n(g: Grammar) -> Query:
    column, order, places = g.number(), g.draw.choice(("ASC", "DESC")), g.draw.randrange(1, 4)
    where = g.maybe("WHERE")
    return lambda window: (
        f"SELECT id, x, {WINDOW} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {WINDOW}, k ORDER BY x {order}, id) "
        f"AS place FROM (SELECT id, k, {column} AS x, {WINDOW} FROM TABLE({window}){where})) WHERE place <= {places}"
    )


def _top_of_aggregates(g: Grammar) -> Query:
    call, places = g.draw.choice(("COUNT(*)", "SUM(b)", "MAX(n)", "COUNT(DISTINCT s)")), g.draw.randrange(1, 3)
    return lambda window: (
        f"SELECT k, x, {WINDOW} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {WINDOW} ORDER BY x DESC, k) AS place "
        f"FROM (SELECT k, {call} AS x, {WINDOW} FROM TABLE({window}) GROUP BY {WINDOW}, k)) WHERE place <= {places}"
    )


def _windows_over_windows(g: Grammar) -> Query:
    call, where = g.draw.choice(("COUNT(*)", "SUM(n)", "COUNT(DISTINCT s)")), g.maybe("WHERE")
    return lambda window: (
        f"SELECT k, {WINDOW}, SUM(x) AS x, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE (SELECT k, window_time AS at, {call} "
        f"AS x FROM TABLE({window}){where} GROUP BY {WINDOW}, window_time, k), DESCRIPTOR(at), INTERVAL '1' HOUR)) "
        f"GROUP BY {WINDOW}, k"
    )


def _window_join(g: Grammar) -> Query:
    kind = g.draw.choice(("", "LEFT ", "FULL OUTER "))
    left, right = (f"SELECT {WINDOW}, k, {_named([g.aggregate()])}" for _ in range(2))
    where = g.maybe("WHERE")
    return lambda window: (
        f"SELECT l.k AS lk, r.k AS rk, l.c0, r.c0 AS c1, l.window_start AS ls, r.window_end AS re "
        f"FROM ({left} FROM TABLE({window}){where} GROUP BY {WINDOW}, k) AS l {kind}JOIN "
        f"({right} FROM TABLE({window}) GROUP BY {WINDOW}, k) AS r "
        "ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k"
    )


def _joined_with_own_extreme(g: Grammar) -> Query:
    """Rows, or aggregates of them, with the MAX or MIN of the same rows, which a rule turns into a rank."""
    extreme, sign = g.draw.choice((("MAX", "="), ("MAX", ">="), ("MIN", "="), ("MIN", "<=")))
    column, call, where = g.number(), g.draw.choice(("COUNT(*)", "SUM(b)", "MAX(n)")), g.maybe("WHERE")
    key, of_rows = g.draw.choice(("", "k, ")), g.draw.random() < 0.5
    on = f"l.window_start = r.window_start AND l.window_end = r.window_end AND l.x {sign} r.y"
    on += " AND l.k = r.k" if key else ""

    def query(window: str) -> str:
        of = f"SELECT id, k, {column} AS x, {WINDOW} FROM TABLE({window}){where}"
        if not of_rows:
            of = f"SELECT k, f, {call} AS x, {WINDOW} FROM TABLE({window}){where} GROUP BY {WINDOW}, k, f"
        own = f"SELECT {key}{extreme}(x) AS y, {WINDOW} FROM ({of}) GROUP BY {key}{WINDOW}"
        return f"SELECT l.*, r.y FROM ({of}) AS l JOIN ({own}) AS r ON {on}"

    return query


def _named(columns: list[str]) -> str:
    return ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))


FORMS: dict[str, Callable[[Grammar], Query]] = {
    "rows": _rows,
    "distinct": _distinct,
    "aggregates": _aggregates,
    "grouping sets": _grouping_sets,
    "Top-N": _top_n,
    "Top-N of aggregates": _top_of_aggregates,
    "windows over windows": _windows_over_windows,
    "window join": _window_join,
    "join with own extreme": _joined_with_own_extreme,
}
