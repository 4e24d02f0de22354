"""The situations of tests/conformance: what other projects test, with tables, rows and SQL of our own. No Spark.

A file has a family, tables, views and `parts` (texts that cases put into their SQL, as in `{tumble}`), and cases. A
case with `each` stands for one situation for each choice of parts. The first column of a table is its time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import yaml

HERE = Path(__file__).parents[1]
FOLDER = HERE / "conformance"
ANSWERS = HERE / "data" / "flink_conformance.json"
MODES = ("batch", "streaming")
MARKS = ("different", "refused", "beyond")
OP = "$op"
DELAY = re.compile(r"WATERMARK FOR \w+ AS \w+ - INTERVAL '([\d.]+)' (SECOND|MINUTE|HOUR)")


class Loader(yaml.SafeLoader):
    """YAML in which times are strings."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for key, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Table:
    """A table and its rows in the order of arrival. With `changes` each row begins with its kind, such as -U."""

    name: str
    columns: str  # those that have values
    more: str = ""  # computed columns, watermark, key
    rows: tuple[tuple[Any, ...], ...] = ()
    changes: bool = False
    fields: tuple[str, ...] = ()  # the columns that the rows have, if they cannot be told from `columns`

    @property
    def ddl(self) -> str:
        return ", ".join(part for part in (self.columns, self.more) if part)

    @property
    def names(self) -> list[str]:
        if self.fields:
            return [*self.fields]
        depth, names = 0, [""]
        for char in self.columns:
            depth += (char in "<(") - (char in ">)")
            if char == "," and not depth:
                names.append("")
            else:
                names[-1] += char
        return [OP] * self.changes + [each.split()[0].strip("`") for each in names]

    def objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def out_of_order(self, *, behind_watermark: bool) -> set[int]:
        """The positions of rows that come after a row of a later time, or even behind the watermark."""
        column = self.names.index("ts") if self.fields else self.changes
        times = [datetime.fromisoformat(str(row[column])) for row in self.rows]
        delay = DELAY.search(self.more)
        waited = timedelta()
        if behind_watermark and delay is not None:
            waited = timedelta(**{delay[2].lower() + "s": float(delay[1])})
        return {at for at in range(1, len(times)) if times[at] < max(times[:at]) - waited}


@dataclass(frozen=True)
class Situation:
    """What is tested: a query over tables in some modes.

    `marks` say where tvfsql does not answer as Flink does, and why: it gives other rows on purpose (different), it
    refuses the query with these words (refused), or it alone answers (beyond). `expected` are the rows by a model,
    where Flink cannot be asked.
    """

    family: str
    about: str
    source: str
    sql: str
    tables: tuple[Table, ...]
    views: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES
    zone: str = "UTC"
    options: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by mode, then by kind
    expected: tuple[tuple[Any, ...], ...] | None = None
    inserts: tuple[str, ...] = ()  # statements before the query, with tables o0, o1, ... in `{folder}`

    @property
    def name(self) -> str:
        return f"{self.family}: {self.about}"

    def asked(self, mode: str) -> dict[str, Any]:
        """The query in the form of flink_rows.py."""
        tables = [
            {"name": each.name, "columns": each.ddl, "rows": each.objects(), "changes": each.changes}
            for each in self.tables
        ]
        return {
            "name": self.name,
            "mode": mode,
            "zone": self.zone,
            "options": dict(self.options),
            "tables": tables,
            "statements": [*(each for view in self.views for each in made_anew(view)), *self.inserts],
            "sql": self.sql,
        }


def made_anew(view: str) -> list[str]:
    """The statements that make a view, in Flink, whether or not it is there."""
    name = view.split()[2]
    return [f"DROP TEMPORARY VIEW IF EXISTS {name}", view.replace("CREATE VIEW", "CREATE TEMPORARY VIEW")]


def situations() -> list[Situation]:
    """The situations, by file, in the modes in which their rows are known: by Flink's answer or by a model."""
    told = answers()
    found = []
    for each in all_situations():
        keys = {mode: told.get((each.name, mode), {}).get("key") for mode in each.modes}
        modes = tuple(
            mode for mode in each.modes if each.expected is not None or keys[mode] == key_of(each.asked(mode))
        )
        found += [replace(each, modes=modes)] if modes else []
    return found


def all_situations() -> list[Situation]:
    """The situations of the files, by file, whether or not Flink has been asked."""
    shared = read(FOLDER / "shared.yaml")
    found = [each for file in sorted(FOLDER.glob("[A-Z]*.yaml")) for each in of_file(read(file), shared)]
    names = [each.name for each in found]
    assert len({*names}) == len(names), sorted({name for name in names if names.count(name) > 1})
    return found


def read(file: Path) -> dict[str, Any]:
    made: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader)
    return made


def of_file(file: dict[str, Any], shared: dict[str, Any]) -> Iterator[Situation]:
    known = {**shared["tables"], **file.get("tables", {})}
    tables = {name: table_of(name, table, known) for name, table in known.items()}
    parts = {**shared["parts"], **file.get("parts", {})}
    views = file.get("views", {})
    for case in file["cases"]:
        each = {name: [*map(str, values)] for name, values in case.get("each", {}).items()}
        for chosen in product(*each.values()):
            of_case = {name: parts.get(value, value) for name, value in zip(each, chosen, strict=True)}
            sql = filled(case["sql"], {**parts, **of_case})
            made = tuple(
                f"CREATE VIEW {name} AS {filled(views[name], {**parts, **of_case})}" for name in case.get("views", ())
            )
            used = " ".join([sql, *made])
            yield Situation(
                family=file["family"],
                about=case["about"] + (f" ({', '.join(chosen)})" if chosen else ""),
                source=case.get("from", file.get("from", "")),
                sql=sql,
                tables=tuple(table for name, table in tables.items() if mentions(used, name)),
                views=made,
                modes=tuple(case.get("modes", file.get("modes", MODES))),
                zone=case.get("zone", file.get("zone", "UTC")),
                options={
                    key: str(value).lower() if isinstance(value, bool) else str(value)
                    for key, value in case.get("options", {}).items()
                },
                marks=marks_of(case, chosen),
                expected=tuple(map(tuple, case["rows"])) if "rows" in case else None,
            )


def table_of(name: str, table: dict[str, Any], tables: dict[str, Any]) -> Table:
    rows = table.get("rows", ())
    if isinstance(rows, str):  # the rows of another table
        rows = tables[rows]["rows"]
    return Table(
        name,
        " ".join(table["columns"].split()),
        " ".join(table.get("more", "").split()),
        tuple(map(tuple, rows)),
        table.get("changes", False),
    )


def mentions(sql: str, table: str) -> bool:
    return any(word == table for word in "".join(c if c.isalnum() or c == "_" else " " for c in sql).split())


def filled(sql: str, parts: Mapping[str, str]) -> str:
    """The text with its parts. `{w:l}` is the part w over the table that l names (`{x}` in the part), or with a number
    one of the alternatives in it."""
    for _ in range(4):  # parts can have parts
        for name, part in parts.items():
            sql = sql.replace("{" + name + "}", part)
            for number, each in enumerate(part.split("|"), 1):
                sql = sql.replace(f"{{{name}:{number}}}", each)
            for over in "lr":
                if "{" + name + ":" + over + "}" in sql:
                    of_side = part.replace("{x}", parts[over]).replace("{w}", "{w:" + over + "}")
                    sql = sql.replace("{" + name + ":" + over + "}", of_side)
    return " ".join(sql.split())


def marks_of(case: dict[str, Any], chosen: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The marks by mode. In the file a mark is a text, or a mapping from a mode, or from a choice of `each`."""
    marks: dict[str, dict[str, str]] = {}
    for kind in MARKS:
        given = case.get(kind)
        for mode in MODES:
            found = given
            while isinstance(found, dict):
                found = next((value for key, value in found.items() if key == mode or key in chosen), None)
            if found:
                marks.setdefault(mode, {})[kind] = found
    return marks


def answers() -> dict[tuple[str, str], dict[str, Any]]:
    """What Flink answers, by name and mode."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines()
    return {(each["name"], each["mode"]): each for each in map(json.loads, lines)}


def key_of(asked: dict[str, Any]) -> str:
    """A short text that changes with the query, its tables or their rows."""
    return f"{crc32(json.dumps({**asked, 'name': ''}).encode()):08x}"
