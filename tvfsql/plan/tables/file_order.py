"""The order in which a stream reads the files of a table: by their names, or by a time in their names.

Spark knows one order, that of modification times, which copies do not keep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from tvfsql.errors import DataError

OPTION, FORMATTER = "source.file-order", "source.file-order.timestamp-formatter"
MODIFIED, NAME, TIME = "modification-time", "name", "time-in-name"  # the values of the option
ORDERS = (MODIFIED, NAME, TIME)
EXAMPLE = "yyyyMMdd-HHmmss"

# The letters of a formatter, as in Java: how many of them there are, and which digits they stand for.
PARTS = {"yyyy": 4, "uuuu": 4, "MM": 2, "dd": 2, "HH": 2, "mm": 2, "ss": 2}
FIELDS = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
WORDS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", re.DOTALL)
Key = tuple[datetime, int, str] | tuple[str]


@dataclass(frozen=True)
class FileOrder:
    """An order of files. `by`: NAME compares their paths, character by character, so `10.csv` is before `9.csv`. TIME
    compares the times in their paths, which look as `formatter` says, and then the paths.
    """

    by: str
    formatter: str = ""

    def key(self, path: str) -> Key:
        """What to compare of a file. `path` is the one below the folder of the table. Raises DataError if it should
        have a time, and has none."""
        if self.by == NAME:
            return (path,)
        found = self.time_in(path)
        if found is None:
            raise DataError(
                f"the name of the file {path} has no time of the form {self.formatter}",
                hint=f"'pathGlobFilter' = '*.csv' or 'source.path.regex-pattern' leaves files out; '{FORMATTER}' says "
                f"what times look like; '{OPTION}' = '{NAME}' needs none",
            )
        return (*found, path)

    def knows(self, path: str) -> bool:
        """Whether it has a place for a file."""
        return self.by == NAME or self.time_in(path) is not None

    def time_in(self, path: str) -> tuple[datetime, int] | None:
        """The last time in a path, and its fraction of a second in nanoseconds; None if the path has no time."""
        found = None
        for match in self._pattern.finditer(path):
            parts = {name: int(text) for name, text in match.groupdict().items() if name != "fraction"}
            fraction = match.groupdict().get("fraction") or ""
            try:
                at = datetime(**({"month": 1, "day": 1} | parts))  # type: ignore[arg-type]  # all are numbers
            except ValueError:  # digits that are not a date
                continue
            found = at, int(fraction[:9].ljust(9, "0"))
        return found

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The regular expression of a time. It looks ahead, because other digits may overlap with a time."""
        before = "(?<![0-9])" if self.formatter[:1].isalpha() else ""
        after = "(?![0-9])" if self.formatter[-1:].isalpha() else ""
        return re.compile(f"{before}(?={''.join(_expressions(self.formatter))}{after})")


def formatter_error(formatter: str) -> str:
    """What is wrong with a formatter; "": nothing."""
    try:
        names = re.findall(r"\(\?P<(\w+)>", "".join(_expressions(formatter)))
    except ValueError as error:
        return str(error)
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        return f"has the {doubled} twice"
    return "" if "year" in names else "has no year"


def _expressions(formatter: str) -> Iterator[str]:
    """The regular expressions of the parts of a formatter. Raises ValueError."""
    at = 0
    while at < len(formatter):
        word = WORDS.match(formatter, at)
        if word is None:
            raise ValueError("has a quote without an end")
        at, text = word.end(), word[0]
        if word[1] is not None:
            yield re.escape(word[1].replace("''", "'") or "'")
        elif word[2] is None:
            yield re.escape(text)
        elif text in PARTS:
            yield f"(?P<{FIELDS[text[0]]}>[0-9]{{{PARTS[text]}}})"
        elif word[2] == "S" and len(text) <= 9:
            yield f"(?P<fraction>[0-9]{{{len(text)}}})"
        else:
            raise ValueError(f"has {text}, but supports only {', '.join(PARTS)} and SSS; quote other letters: 'T'")
