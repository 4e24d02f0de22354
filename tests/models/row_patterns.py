"""A plain model of MATCH_RECOGNIZE: the rows that each match has, of the rows of one partition in order.

It is what Flink's documentation and answers say, row by row. A variable takes rows one after the other, and each way of
reading the rows is a path. Where a quantifier is greedy, the variable after it does not get a row that the first one
could take. Everywhere else a path divides: it takes the row for the variable, and it goes on. Of the paths that begin
at one row the first one that is complete is the match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Row = Mapping[str, object]
Taken = tuple[tuple[str, int], ...]  # the variable and the number of each row of a path
# Whether a variable may take a row: the rows, what the path has taken, and the row's number.
Condition = Callable[[Sequence[Row], Taken, int], bool]


@dataclass(frozen=True)
class Variable:
    """A variable of the pattern with its quantifier; `most` is None without a limit."""

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True


@dataclass(frozen=True)
class Pattern:
    """What is looked for. `within` is in ms; `skip` is one of `past last row`, `to next row`, `to first v`, `to last
    v`."""

    variables: tuple[Variable, ...]
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    within: int | None = None
    skip: str = "to next row"


@dataclass(frozen=True)
class Path:
    """Rows that variables have taken. It waits at the variable numbered `at`, which has `count` rows."""

    taken: Taken
    at: int
    count: int


class NoSuchRow(Exception):
    """The match has no row to go on with, or would go on with its first one."""


def matches(pattern: Pattern, rows: Sequence[Row], *, ended: bool = True) -> list[Taken]:
    """The matches of rows in order of time. Each row has its time in `ts`, in ms. `ended`: the time has passed
    beyond all rows."""
    found: list[Taken] = []
    paths: list[Path] = []
    waiting: list[Taken] = []  # complete, but a path that began earlier may still be

    def leave() -> None:
        nonlocal paths, waiting
        while waiting:
            first = min(waiting, key=lambda taken: taken[0][1])
            if any(path.taken[0][1] < first[0][1] for path in paths):
                return
            found.append(first)
            after = _next_start(pattern, first)
            paths = [path for path in paths if path.taken[0][1] >= after]
            waiting = [taken for taken in waiting if taken[0][1] >= after]

    for number, row in enumerate(rows):
        if pattern.within is not None:
            paths = [path for path in paths if _time(row) - _time(rows[path.taken[0][1]]) < pattern.within]
            leave()
        longer: list[Path] = []
        for path in (*paths, Path((), 0, 0)):
            for next_path, complete in _steps(pattern, rows, path, number):
                if next_path.at < len(pattern.variables):
                    longer.append(next_path)
                if complete:
                    waiting.append(next_path.taken)
        paths = longer
        leave()
    if ended and pattern.within is not None:
        paths = []
        leave()
    return found


def _time(row: Row) -> int:
    time = row["ts"]
    assert isinstance(time, int)
    return time


def _next_start(pattern: Pattern, match: Taken) -> int:
    """The first row at which another match may begin."""
    if pattern.skip == "past last row":
        return match[-1][1] + 1
    if pattern.skip == "to next row":
        return match[0][1] + 1
    _, which, name = pattern.skip.split()
    own = [number for variable, number in match if variable == name]
    if not own or own[0 if which == "first" else -1] == match[0][1]:
        raise NoSuchRow(pattern.skip)
    return own[0 if which == "first" else -1]


def _may(pattern: Pattern, rows: Sequence[Row], taken: Taken, number: int, at: int) -> bool:
    condition = pattern.conditions.get(pattern.variables[at].name)
    return condition is None or condition(rows, taken, number)


def _steps(pattern: Pattern, rows: Sequence[Row], path: Path, number: int) -> list[tuple[Path, bool]]:
    """The paths with one more row, and whether each is a match."""
    made = []
    at, count = path.at, path.count
    while at < len(pattern.variables):
        variable = pattern.variables[at]
        takes = _may(pattern, rows, path.taken, number, at)
        if takes and count == 0 and at > 0 and _holds_on(pattern.variables[at - 1]):
            takes = not _may(pattern, rows, path.taken, number, at - 1)
        if takes:
            taken = (*path.taken, (variable.name, number))
            full = count + 1 == variable.most
            longer = Path(taken, at + 1, 0) if full else Path(taken, at, count + 1)
            made.append((longer, _is_complete(pattern, longer)))
        if count < variable.least:
            break
        at, count = at + 1, 0
    return made


def _holds_on(variable: Variable) -> bool:
    """Whether no other variable gets the next row while this one may take it, even if it has as many as it can."""
    return variable.greedy and (variable.least, variable.most) != (0, 1) and variable.least != variable.most


def _is_complete(pattern: Pattern, path: Path) -> bool:
    """Whether nothing more is needed."""
    at, count = path.at, path.count
    while at < len(pattern.variables) and count >= pattern.variables[at].least:
        at, count = at + 1, 0
    return at == len(pattern.variables)
