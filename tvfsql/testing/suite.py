"""The contents of a test file. Every part has its span in the text, for errors and for `--update`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tvfsql.errors import DataError, Hint, Span

SUFFIXES = (".tvfsql.yaml", ".tvfsql.yml")


@dataclass(frozen=True)
class Rows:
    """Rows as written in the file, by column: texts, numbers, booleans, lists, mappings, None."""

    values: tuple[Mapping[str, Any], ...] = ()
    spans: tuple[Span, ...] = ()
    span: Span = field(default_factory=lambda: Span(0, 0))

    def json(self, number: int) -> str:
        return json.dumps(self.values[number])


@dataclass(frozen=True)
class Step:
    """One micro-batch: its input and the expected output. `expect` is by table; "" is the only output.

    `restart`: the stream stops before the step and resumes with the script of that name; "": with the same script.
    """

    span: Span
    rows: Mapping[str, Rows] = field(default_factory=dict)
    watermark: Mapping[str, tuple[str, Span]] = field(default_factory=dict)  # by table; "": all tables
    idle: tuple[tuple[str, Span], ...] = ()
    now: tuple[str, Span] | None = None
    restart: tuple[str, Span] | None = None
    end: bool = False
    expect: Mapping[str, Rows] = field(default_factory=dict)
    late: int = 0
    column: int = 0  # the column in which its keys begin
    is_block: bool = True  # whether its keys are on lines of their own
    last: int = 0  # the end of its text
    parts: Mapping[str, Span] = field(default_factory=dict)  # the spans of `expect` and `late`, including their keys


@dataclass(frozen=True)
class Case:
    """A test: a script and the steps of its stream. In batch there is one step."""

    name: str
    script: Path
    mode: str
    options: Mapping[str, str]
    steps: tuple[Step, ...]
    span: Span
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """A test file."""

    file: Path
    text: str
    cases: tuple[Case, ...]

    def line(self, span: Span) -> int:
        """The number of the first line of a part."""
        return self.text.count("\n", 0, span.start) + 1

    def mistake(self, message: str, span: Span, hint: Hint | None = None) -> DataError:
        """An error with its place in the file."""
        error = DataError(message, span=span, hint=hint)
        error.within(self.text, str(self.file))
        return error
