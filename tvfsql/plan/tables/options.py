"""Reads the options of a WITH clause as numbers, durations, times and words.

The catalog uses it, where a wrong value is an error at its place in the SQL, and so does the code that generates rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from tvfsql.errors import BindError, Span, did_you_mean, nearest
from tvfsql.plan.values.times import milliseconds

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TableOptions:
    """Options by key; the case of letters does not matter. Each getter raises BindError, at the option, if the value
    does not fit.

    `spans` are the places of the options in the SQL, `table` is the place of the table's name, `called` that name, and
    `connector` the value of its option `connector`.
    """

    def __init__(
        self,
        values: Mapping[str, str],
        spans: Mapping[str, Span] | None = None,
        table: Span | None = None,
        *,
        connector: str = "",
        called: str = "",
    ) -> None:
        self.given = dict(values)
        self.values = {key.lower(): value for key, value in values.items()}
        self.spans = {key.lower(): span for key, span in (spans or {}).items()}
        self.table = table
        self.connector = connector
        self.called = called
        self._read: set[str] = set()

    def with_values(self, values: Mapping[str, str]) -> TableOptions:
        """Return the same options with other values."""
        given = {**self.given, **values}
        return TableOptions(given, self.spans, self.table, connector=self.connector, called=self.called)

    def __contains__(self, key: str) -> bool:
        return key.lower() in self.values

    def text(self, key: str, default: str | None = None, *, example: str = "...") -> str:
        """The value as text. Without a default the option is required; the error then shows `example`."""
        self._read.add(key)
        value = self.values.get(key.lower(), default)
        if value is None:
            raise self.missing(key, f"'{key}' = '{example}'")
        return value

    def word(self, key: str, words: Collection[str], default: str | None = None) -> str:
        """The value, which must be one of `words`."""
        value = self.text(key, default, example=next(iter(words))).lower()
        if value not in words:
            raise self.error(key, f"cannot be {value!r}", did_you_mean(value, words, otherwise="values: "))
        return value

    def whole(self, key: str, default: int | None = None, *, least: int, most: int = 2**63 - 1) -> int:
        """An integer from `least` to `most`."""
        value = self.text(key, None if default is None else str(default), example=str(max(least, 1000)))
        if not re.fullmatch(r"[+-]?\d+", value.strip()):
            raise self.error(key, f"takes a whole number, not {value!r}", f"'{key}' = '{max(least, 1000)}'")
        if not least <= int(value) <= most:
            raise self.error(
                key,
                f"takes a whole number from {least} to {most}",
                f"'{key}' = '{most if int(value) > most else least}'",
            )
        return int(value)

    def number(self, key: str, default: Decimal) -> Decimal:
        """The exact decimal value."""
        value = self.text(key, str(default))
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise self.error(key, f"takes a number, not {value!r}", f"'{key}' = '1'")
        return number

    def duration(self, key: str, default: str) -> int:
        """A duration such as '5 s', '500 ms', '1 min', in ms."""
        value = self.text(key, default)
        ms = milliseconds(value)
        if ms is None:
            raise self.error(key, f"takes a duration, not {value!r}", f"'{key}' = '5 s' (ms, s, min, h, d)")
        return ms

    def time(self, key: str, default: str) -> int:
        """A timestamp 'yyyy-MM-dd HH:mm:ss[.SSS]' or a date, in epoch ms."""
        value = self.text(key, default)
        try:
            moment = datetime.fromisoformat(value.strip()).replace(tzinfo=UTC)
        except ValueError:
            raise self.error(key, f"takes a time, not {value!r}", f"'{key}' = '{default}'") from None
        return (moment - EPOCH) // timedelta(milliseconds=1)

    def missing(self, key: str, example: str) -> BindError:
        """Return the error for a required option that is not given, or whose name is misspelled."""
        if meant := next((given for given in self.given if _similar(given.lower(), key)), None):
            return self._unknown(meant, f"did you mean {key}?")
        return BindError(f"the option {key} is missing", span=self.table, hint=f"add {example}")

    def _unknown(self, key: str, hint: str | None) -> BindError:
        message = f"connector {self.connector} has no option {key}"
        return BindError(message, span=self.spans.get(key.lower(), self.table), hint=hint)

    def error(self, key: str, problem: str, hint: str | None) -> BindError:
        """Return the error for the value of an option."""
        return BindError(f"{key} {problem}", span=self.spans.get(key.lower(), self.table), hint=hint)

    def refuse_unread(self, also: Collection[str] = (), rare: Collection[str] = ()) -> None:
        """Raise BindError for an option that no getter has read. The hint may also suggest the names in `also`, and
        those in `rare` if they are close.
        """
        known = {key.lower(): key for key in self._read}
        for key in self.given:
            if key.lower() not in known:
                raise self._unknown(key, did_you_mean(key, {*known.values(), *also}, rare=rare))


def _similar(given: str, key: str) -> bool:
    """Whether a name is probably a misspelled `key`: each of its parts between dots is similar to that of the key. So
    key.format is not a misspelled value.format. Names with a column are as similar as two columns are.
    """
    parts, ours = given.split("."), key.split(".")
    return len(parts) == len(ours) and ours[0] != "fields" and all(map(_alike, parts, ours))


def _alike(word: str, known: str) -> bool:
    return nearest(word, [known], 0.65) is not None


# What an INSERT does with a row whose primary key another row has: ON CONFLICT DO ... of Flink 2.3.


NOTHING = "NOTHING"  # the first row of a key stays
ERROR = "ERROR"  # the INSERT fails
DEDUPLICATE = "DEDUPLICATE"  # the last row of a key stays
CONFLICTS = (NOTHING, ERROR, DEDUPLICATE)
