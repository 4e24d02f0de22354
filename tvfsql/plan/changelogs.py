"""The logical operators of changelogs: rows by key or with codes as changes, and changes as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.types import BIGINT, STRING


@dataclass(frozen=True)
class ChangelogNormalize(Node):
    """What changes when each row of `input` replaces the one with the same `key`. The input is a Scan with `versions`:
    `ends` is its sign, and `arrival` its columns of that name. `time` is the event time; "": it has none.

    With `changelog` the rows are changes that no operator above has handled yet. With `sign` they are plain rows, in
    which that column is 1 for a row that is new and -1 for one that goes. With neither, in batch, they are the last
    row of each key.
    """

    input: Node
    key: tuple[str, ...]
    time: str
    ends: str
    arrival: tuple[str, ...]
    changelog: bool = False
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*(part for part in self.input.schema if part.name not in (self.ends, *self.arrival)), *signs)

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads, apart from those that are in its output only."""
        return frozenset({*self.key, self.ends, *self.arrival, *([self.time] if self.time else [])})

    def details(self) -> Iterator[tuple[str, str]]:
        yield "key", ", ".join(self.key)


@dataclass(frozen=True)
class FromChangelog(Node):
    """The rows of a query as changes: the column `op`, which the result lacks, has the `codes` of operations.

    Without `sign` they are changes that no operator above has handled yet. With `sign` they are plain rows, in which
    that column is 1 for an insert and -1 for a retraction; with `kinds` it has the operation itself. On streams there
    is a code only in rows for which `read` holds: others carry watermarks.
    """

    input: Node
    op: str
    codes: tuple[tuple[str, str], ...]
    sign: str = ""
    kinds: bool = False
    read: Scalar | None = None

    table = "FROM_CHANGELOG"  # in messages about changes

    @cached_property
    def schema(self) -> Schema:
        signs = (Field(self.sign, STRING if self.kinds else BIGINT),) if self.sign else ()
        return (*(part for part in self.input.schema if part.name != self.op), *signs)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "op", self.op
        yield "codes", ", ".join(f"{code}={kind}" for code, kind in self.codes)


@dataclass(frozen=True)
class ToChangelog(Node):
    """The changes of the input as rows: the column `op` has the code of each operation. Changes of an operation without
    a code are left out. A row that is no change is an insert.
    """

    input: Node
    op: str
    codes: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return (Field(self.op, STRING), *self.input.schema)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "op", self.op
        yield "codes", ", ".join(f"{kind}={code}" for kind, code in self.codes)
