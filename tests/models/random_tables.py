"""Random tables: columns of many types, whose names recur in other tables with other types; rows with NULLs, ties and
times at edges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.support.conformance import Table

ZONES = ("Europe/Berlin", "America/New_York", "UTC")
# mornings with a change of clocks in two zones, the end of a leap year's February, and the first day of the epoch
STARTS = ("2024-03-31 00:10:00", "2024-11-03 04:40:00", "2024-02-29 23:20:00", "1969-12-31 23:30:00")
NAMES = ("a", "b", "n", "amount", "s", "v", "ok", "d", "q", "m")
ROWS = 30
STEPS = (0, 0, 0.5, 1, 5, 20, 60, 180, 300, 900)  # seconds from one row to the next

# types of columns, and their values in JSON
TYPES: dict[str, tuple[Any, ...]] = {
    "INT": (0, 1, 2, 3, -4, 7, 42),
    "STRING": ("a", "b", "A", "", "ab", " a ", "7", "007", "b%", "é", "x,y", "2024-03-31"),
    "BIGINT": (0, 1, -1, 5, 7, 10**10, -(10**10)),
    "DECIMAL(10, 2)": (0, 1, -1.5, 3.75, 0.01, 42, -7.25),
    "DOUBLE": (0.0, 1.0, -0.5, 0.1, 2.5, 1e6, -3.25),
    "BOOLEAN": (True, False),
    "TINYINT": (0, 1, 2, -3, 5),
    "SMALLINT": (0, 1, 2, -3, 7),
    "FLOAT": (0.0, 1.0, -0.5, 0.1, 2.5),
    "DECIMAL(18, 6)": (0, 1, 0.000001, -2.5, 3.141593),
    "DATE": ("2024-03-31", "2024-02-29", "1969-12-31", "2024-12-31", "2000-01-01"),
    "TIMESTAMP(3)": ("2024-03-31 02:30:00", "2024-03-31 00:15:00", "1969-12-31 23:59:59.999", "2024-11-03 01:30:00"),
    "TIMESTAMP_LTZ(3)": ("2024-03-31 00:59:59.5Z", "2024-03-31 01:00:00Z", "1969-12-31 23:59:59Z"),
    "TIME": ("10:20:30", "00:00:00", "23:59:59"),
    "VARCHAR(5)": ("a", "b", "ab", "", "7"),
    "CHAR(2)": ("aa", "ab", "b ", "07"),
    "BYTES": ("YQ==", "YWI=", ""),
    "ARRAY<INT>": ([1, 2, 3], [], [None, 7], [2, 2]),
    "ARRAY<STRING>": (["a", "b"], ["", None], [], ["b"]),
    "MAP<STRING, INT>": ({"a": 1, "b": 2}, {}, {"a": None}),
    "ROW<n DECIMAL(10, 2), s STRING, ok BOOLEAN>": (
        {"n": 1.5, "s": "a", "ok": True},
        {"n": None, "s": "b", "ok": False},
    ),
    "ROW<a BIGINT, k INT, v DOUBLE>": ({"a": 7, "k": 1, "v": 0.5}, {"a": -1, "k": None, "v": 2.5}),
}
# what expressions distinguish: the kind of each type, which otherwise is its own
KINDS = {
    "TINYINT": "INT",
    "SMALLINT": "INT",
    "VARCHAR": "STRING",
    "CHAR": "STRING",
    "DECIMAL": "DECIMAL",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "LTZ",
}


def kind_of(type_: str) -> str:
    return KINDS.get(type_.partition("(")[0], type_)


@dataclass(frozen=True)
class Column:
    """A column, or another text that has a value."""

    name: str
    kind: str

    @property
    def fields(self) -> list[Column]:
        """The fields of a ROW; an element of an array or map."""
        if self.kind.startswith("ROW"):
            parts = (part.split(" ", 1) for part in self.kind[4:-1].replace("10, 2", "10; 2").split(", "))
            return [Column(f"{self.name}.{name}", kind_of(type_)) for name, type_ in parts]
        if self.kind.startswith("ARRAY"):
            return [Column(f"{self.name}[1]", self.kind[6:-1])]
        if self.kind.startswith("MAP"):
            return [Column(f"{self.name}['a']", "INT")]
        return []


@dataclass(frozen=True)
class RandomTable:
    """A table with the columns `id`, which differs from row to row, `k`, `ts`, and some others. In the table `w` the
    times differ too."""

    table: Table
    columns: tuple[Column, ...]

    @property
    def key(self) -> bool:
        return "PRIMARY KEY" in self.table.more


@dataclass(frozen=True)
class World:
    """The tables that many scripts are about; the last one has a PRIMARY KEY. No row comes too late."""

    zone: str
    tables: tuple[RandomTable, ...]


def random_world(seed: int) -> World:
    draw = random.Random(seed)
    start = datetime.fromisoformat(draw.choice(STARTS))
    keys = draw.choice(("INT", "STRING", "STRING"))
    return World(draw.choice(ZONES), tuple(random_table(draw, name, start, keys) for name in ("t", "u", "w", "p")))


def random_table(draw: random.Random, name: str, start: datetime, keys: str) -> RandomTable:
    instants = draw.random() < 1 / 3
    types = {"id": "INT", "k": keys}
    types |= {each: draw.choice([*TYPES]) for each in draw.sample(NAMES, draw.randrange(6, len(NAMES)))}
    time = "t0" if instants else "ts"
    more = "ts AS CAST(t0 AS TIMESTAMP_LTZ(3)), " if instants else ""
    more += "WATERMARK FOR ts AS ts - INTERVAL '30' SECOND"
    more += ", PRIMARY KEY (k) NOT ENFORCED" if name == "p" else ""
    declared = ", ".join([f"{time} TIMESTAMP(3)", *(f"{each} {type_}" for each, type_ in types.items())])
    rows = []
    for at, when in enumerate(times(draw, start, ties=name != "w")):
        row = [None if draw.random() < 1 / 6 else draw.choice(TYPES[type_]) for type_ in types.values()]
        row[0] = at
        row[1] = draw.choice(TYPES[keys][:4]) if name == "p" or draw.random() < 6 / 7 else None
        rows.append((when, *row))
    columns = [Column(each, kind_of(type_)) for each, type_ in types.items()]
    columns += [Column("t0", "TIMESTAMP"), Column("ts", "LTZ")] if instants else [Column("ts", "TIMESTAMP")]
    return RandomTable(Table(name, declared, more, tuple(rows)), tuple(columns))


def times(draw: random.Random, start: datetime, ties: bool) -> list[str]:
    """Times in order but for two, which are less than the delay of the watermark behind."""
    made = []
    for _ in range(ROWS):
        start += timedelta(seconds=draw.choice(STEPS))
        made.append(start)
    for at in draw.sample(range(1, ROWS), 2):
        made[at] = made[at - 1] - timedelta(seconds=12)
    if not ties:
        made = [each + timedelta(milliseconds=at) for at, each in enumerate(made)]
    return [each.isoformat(" ", "milliseconds") for each in made]
