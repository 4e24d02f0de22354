"""Paths into JSON, as in Flink. A path is strict unless it starts with `lax`. In a strict path a missing value is an
error; in a lax one it is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Json = Any  # None, bool, int, Decimal, str, list, dict
STEP = re.compile(
    r"""\.\.(?P<deep>[^.\[\]]+|\*) | \.(?P<star>\*) | \.?\[\s*(?P<any>\*)\s*\]
    | \.?\[\s*(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]
    | \[\s*(?P<slice>-?\d*\s*:\s*-?\d*)\s*\] | \[\s*(?P<index>-?\d+(?:\s*,\s*-?\d+)*)\s*\]
    | \.(?P<name>[^.\[\]()?@\s]+)""",
    re.VERBOSE,
)


class NotFound(Exception):
    """A step of a path does not exist in the document."""


@dataclass(frozen=True)
class Path:
    """Steps into a document: names, indexes, and steps that may find several values."""

    lax: bool
    steps: tuple[Step, ...]

    @property
    def several(self) -> bool:
        """Whether the path finds a list of values."""
        return any(isinstance(step, Several) for step in self.steps)

    def value(self, document: Json) -> Json:
        """The value at the path. Raises NotFound."""
        found = [document]
        split = False
        for step in self.steps:
            if isinstance(step, Several):
                if not split and not step.applies(found[0]):
                    raise NotFound
                found, split = [each for value in found for each in step.of(value)], True
            elif split:
                found = [each for value in found for each in _child(value, step)]
            else:
                found = [*_child(found[0], step)]
                if not found:
                    raise NotFound
        return found if split else found[0]


@dataclass(frozen=True)
class Several:
    """A step that may find several values: *, ..name, [0,1] or [0:2]."""

    kind: str
    of_what: Any = None

    def applies(self, value: Json) -> bool:
        return isinstance(value, dict | list) if self.kind in ("*", "..") else isinstance(value, list)

    def of(self, value: Json) -> Iterator[Json]:
        match self.kind:
            case "*":
                yield from value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            case "..":
                yield from _deep(value, self.of_what)
            case "slice" if isinstance(value, list):
                yield from value[self.of_what]
            case "indexes" if isinstance(value, list):
                yield from (found for index in self.of_what for found in _child(value, index))


Step = str | int | Several  # a name, an index, or a step that may find several values


def _child(value: Json, step: str | int) -> Iterator[Json]:
    """The member or element of a value, if it exists."""
    if isinstance(value, dict) if isinstance(step, str) else isinstance(value, list):
        is_there = step in value if isinstance(step, str) else -len(value) <= step < len(value)
        if is_there:
            yield value[step]


def _deep(value: Json, name: str) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.values() if name == "*" else ([value[name]] if name in value else ())
    elif isinstance(value, list) and name == "*":
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _deep(inner, name)


@lru_cache(maxsize=256)
def path_of(text: str) -> Path:
    """Parse a path. Raises ValueError if the text is not a path, or uses syntax that this module does not support."""
    found = re.match(r"\s*(lax|strict)\s+", text, re.IGNORECASE)
    mode, rest = (found[1].lower(), text[found.end() :]) if found else ("strict", text)
    rest = rest.strip()
    rest = rest if rest.startswith("$") else f"$.{rest}"
    steps: list[Step] = []
    at = 1
    while at < len(rest):
        step = STEP.match(rest, at)
        if step is None:
            raise ValueError(f"{rest[at:]} is not supported in a JSON path")
        steps.append(_step(step))
        at = step.end()
    return Path(mode == "lax", tuple(steps))


def _step(found: re.Match[str]) -> Step:
    if found["deep"]:
        return Several("..", found["deep"])
    if found["star"] or found["any"]:
        return Several("*")
    if found["quoted"]:
        return re.sub(r"\\(.)", r"\1", found["quoted"][1:-1])
    if found["slice"]:
        start, end = (int(part) if part.strip() else None for part in found["slice"].split(":"))
        return Several("slice", slice(start, end))
    if found["index"]:
        numbers = tuple(map(int, found["index"].split(",")))
        return numbers[0] if len(numbers) == 1 else Several("indexes", numbers)
    return found["name"]
