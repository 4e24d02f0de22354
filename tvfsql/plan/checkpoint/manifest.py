"""What a checkpoint records about its stream: the stateful operators, the sources and the sinks, as data.

A release of tvfsql may emit other code for a query, and a user may change parts that the state does not depend on.
Whether a checkpoint can be resumed is therefore decided by the manifest, not by the program's text. Expressions are the
SQL of EXPLAIN over the columns of the sources, so intermediate names in a query do not matter. Source:
docs/streams.md#change-a-running-query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.top_rows import keeps
from tvfsql.plan.stream import Firing
from tvfsql.plan.window import Window, as_json, from_json

FORMAT = 1  # of the manifest itself
# connectors whose streams are written by Spark's sink for files
OF_FILES = ("filesystem", "avro", "csv", "json", "orc", "parquet", "text", "xml")
WATERMARKS = "watermarks"  # a setting: that each side of a join has one of its own in an operator of both
PARALLELISM = "pipeline.max-parallelism"  # a setting: the number of key groups, which checkpoints keep apart
COUNTED = re.compile(r"sum\((?:CASE WHEN (.+) IS NOT NULL THEN 1L ELSE 0L END|1L)\)")
IGNORING_NULL = re.compile(r"(\w+)\(CASE WHEN (.+) IS NOT NULL THEN (?:\2|array\(\2\)) END\)")


@dataclass(frozen=True)
class Column:
    """A column in state: its name, its type and, for each input, the expression that it is computed from.

    `merge` says how two values are merged; "": they are not. `type` is "" if only Spark knows it. `reads` has the
    source columns that it reads, with their types. `since` numbers the changes of the query that added columns, in
    whose windows that were open then it only counts later rows; 0: it counts all rows. Windows cannot do without the
    rows in a column with `whole`, nor without their number.
    """

    name: str
    type: str
    of: tuple[str, ...]
    merge: str = ""
    reads: str = ""
    since: int = 0
    whole: bool = False

    def same_as(self, other: Column) -> bool:
        """Whether the column holds the same, under whatever name. One release may know a type that another does not."""
        return self.merge == other.merge and self._alike(other)

    def serves(self, other: Column) -> bool:
        """Whether the column of a state has all that the column `other` of a query needs."""
        return keeps(self.merge, other.merge) and self._alike(other)

    def _alike(self, other: Column) -> bool:
        of_types = ((self.type, other.type), (self.reads, other.reads))
        return self.of == other.of and all(a == b or not (a and b) for a, b in of_types)

    @property
    def text(self) -> str:
        """What the column holds, as text: `sum(price * 2)`."""
        of = " | ".join(dict.fromkeys(self.of))
        return f"{self.merge}({of})" if self.merge else of

    @property
    def shown(self) -> str:
        """The same for users, without the conditions by which aggregates ignore NULL."""
        whole = COUNTED.fullmatch(self.text)
        if whole:
            return f"count({_bare(whole[1]) if whole[1] else '*'})"
        value = IGNORING_NULL.fullmatch(self.text)
        return f"{value[1]}({_bare(value[2])})" if value else self.text


@dataclass(frozen=True)
class Input:
    """An input of an operator: a source or operator by its place in the manifest (`source 1`, `operator 2`), the
    conditions on its rows, and the operators in between. `changelog`: it retracts rows.
    """

    of: str
    where: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    changelog: bool = False


WINDOWS, GROUPS, TOP_N, REGULAR_JOIN = "GROUP BY window", "GROUP BY", "Top-N", "REGULAR JOIN"  # kinds of State
SPARK_GROUPS = "GROUP BY in Spark"  # the same, of Spark's own aggregate


@dataclass(frozen=True)
class State:
    """A stateful operator. `settings` maps words of SQL or option names to values that must not change. `columns` are
    stored in state in this order; `keys` identify its rows. `combined` has the sets of columns that one result is
    computed from. `dropped` has the names of columns that some rows in state may still have.
    """

    kind: str
    keys: tuple[Column, ...] = ()
    columns: tuple[Column, ...] = ()
    inputs: tuple[Input, ...] = ()
    window: Window | None = None
    firing: Firing | None = None
    settings: Mapping[str, str] | None = None
    combined: tuple[tuple[str, ...], ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def merges(self) -> bool:
        """Whether its columns are partials of aggregates, apart from the keys."""
        return self.kind in (WINDOWS, GROUPS)


@dataclass(frozen=True)
class Source:
    """A table that the stream reads. `at` is its path or topic, `history` the table whose rows come before its own.
    `since` numbers the changes of the query that added tables; 0: the stream has read it from the start.
    """

    table: str
    connector: str
    at: str = ""
    time: str = ""
    watermark: str = ""
    history: str = ""
    since: int = 0


@dataclass(frozen=True)
class Sink:
    """A table that the stream writes. `by_batch`: each micro-batch is written on its own, without Spark's file log."""

    table: str
    connector: str
    at: str = ""
    by_batch: bool = False

    @property
    def logged(self) -> bool:
        """Whether Spark keeps a log of its files in its folder."""
        return self.connector in OF_FILES and bool(self.at) and not self.by_batch


@dataclass(frozen=True)
class Manifest:
    """The operators, sources and sinks of a stream. `results` are the inputs that its output rows come from. `layout`
    is the version of the state's layout, `version` the release of tvfsql that wrote the manifest. `known` is what a
    checkpoint knows of the stream, if the query adds tables to it; it is not stored.
    """

    operators: tuple[State, ...]
    sources: tuple[Source, ...]
    sinks: tuple[Sink, ...]
    results: tuple[Input, ...]
    sql: tuple[str, ...]
    layout: int
    version: str
    known: Known | None = field(default=None, compare=False)

    def dump(self) -> str:
        found = asdict(replace(self, known=None))
        del found["known"]
        for told, operator in zip(found["operators"], self.operators, strict=True):
            told["window"] = operator.window and as_json(operator.window)
            for part in (told, *told["columns"], *told["keys"], *told["inputs"]):
                _leave_out_empty(part)
        for one in (*found["results"], *found["sources"]):
            _leave_out_empty(one)
        return json.dumps({"manifest": FORMAT, **found}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def load(cls, text: str) -> Manifest:
        """Parse a manifest. Raises DataError if the text is not a manifest, or is one of another format version."""
        try:
            told = json.loads(text)
            number = told.pop("manifest")
            if number != FORMAT:
                raise DataError(
                    f"this checkpoint has a manifest of version {number}, but this release of tvfsql reads {FORMAT}",
                    hint=f"tvfsql {told.get('version', 'that wrote it')} reads it",
                )
            return cls(
                tuple(map(_operator, told["operators"])),
                tuple(Source(**each) for each in told["sources"]),
                tuple(Sink(**each) for each in told["sinks"]),
                tuple(map(_input, told["results"])),
                tuple(told["sql"]),
                told["layout"],
                told["version"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                "the manifest of this checkpoint is damaged", hint="put the file back, or use a new folder"
            ) from error


@dataclass(frozen=True)
class Known:
    """A stream without the tables that its query adds to a checkpoint. `added` are the places of these in the sources
    of the whole query.
    """

    manifest: Manifest
    added: tuple[int, ...]


def _bare(text: str) -> str:
    """An expression without the parentheses around it as a whole."""
    inner = text[1:-1]
    return inner if text[:1] == "(" and text[-1:] == ")" and not {*"()"} & {*inner} else text


def _operator(told: dict[str, Any]) -> State:
    window = told["window"]
    made = dict(told)
    made["window"] = window and from_json(window)
    made["firing"] = told["firing"] and Firing(**told["firing"])
    for name in ("keys", "columns"):
        made[name] = tuple(map(_column, told[name]))
    made["inputs"] = tuple(map(_input, told["inputs"]))
    made["combined"] = tuple(map(tuple, told.get("combined", ())))
    return State(**made | _tuples(told, "dropped"))


def _column(told: dict[str, Any]) -> Column:
    unknown = told["type"].startswith("of ")  # the first manifests had this and no `reads`
    types = {"type": "", "reads": told["type"].removeprefix("of ")} if unknown else {}
    return Column(**told | {"of": tuple(told["of"])} | types)


def _input(told: dict[str, Any]) -> Input:
    return Input(**told | _tuples(told, "where", "through"))


def _tuples(told: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(told.get(name, ())) for name in names}


def _leave_out_empty(told: dict[str, Any]) -> None:
    """Leave out what the first manifests did not have, where it says nothing, so that old releases can read it."""
    for name in {"since", "whole", "changelog", "combined", "dropped"} & {*told}:
        if not told[name]:
            del told[name]


# The version of the layout of state in checkpoints.


LAYOUT = 1  # increment it when a release can no longer read the state of earlier ones, or they that of this one
