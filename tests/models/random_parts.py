"""The parts of a random script: what its queries read, and their expressions and conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.models.choices import Choices
from tests.models.random_expressions import Expressions
from tests.models.random_rows import Rows, nested
from tests.models.random_tables import NAMES, Column, World

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
RESULT_KINDS = ("INT", "STRING", "BOOLEAN", "DECIMAL", "TIMESTAMP", "BIGINT", "DOUBLE", "DATE", "LTZ", "TIME", "FLOAT")
NESTED = ("ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING, INT>", "BYTES")
KEYS = ("INT", "STRING", "BOOLEAN", "BIGINT", "DECIMAL", "DATE")


@dataclass
class Parts:
    """A script in the making: its tables, views and CTEs, and parts of its queries."""

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

    def query(self, depth: int) -> Rows:
        """A query of any form."""
        raise NotImplementedError

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

    def timed(self, kind: str = "", *, id: bool = False) -> Rows:
        """A table or a view with an event time, of this kind, whose `id` differs from row to row if `id` says so."""
        found = [
            each
            for each in (*self.named, *self.named[len(self.world.tables) :])
            if each.time and not each.windowed and (each.id or not id)
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
