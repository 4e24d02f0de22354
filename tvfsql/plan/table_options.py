"""The WITH clause of a table, read by what its values are: numbers, durations, times, words.

The same reading in the catalog, where a wrong value is an error with its place, and where rows are made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.durations import milliseconds

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TableOptions:
    """Options by key, in any case of letters. Each getter raises BindError, at the option, if its value does not fit.

    `spans` are the places of the options in the SQL, `table` that of the table's name.
    """

    def __init__(
        self, values: Mapping[str, str], spans: Mapping[str, Span] | None = None, table: Span | None = None
    ) -> None:
        self.given = dict(values)
        self.values = {key.lower(): value for key, value in values.items()}
        self.spans = {key.lower(): span for key, span in (spans or {}).items()}
        self.table = table
        self._read: set[str] = set()

    def with_values(self, values: Mapping[str, str]) -> TableOptions:
        """The same options with others."""
        return TableOptions({**self.given, **values}, self.spans, self.table)

    def __contains__(self, key: str) -> bool:
        return key.lower() in self.values

    def text(self, key: str, default: str | None = None, *, example: str = "...") -> str:
        """The value as it is. Without a default it must be there; `example` is what the error shows then."""
        self._read.add(key)
        value = self.values.get(key.lower(), default)
        if value is None:
            raise BindError(f"the option {key} is missing", span=self.table, hint=f"add '{key}' = '{example}'")
        return value

    def word(self, key: str, words: Collection[str], default: str | None = None) -> str:
        """One of some words."""
        value = self.text(key, default, example=next(iter(words))).lower()
        if value not in words:
            raise self.error(key, f"cannot be {value!r}", did_you_mean(value, words, otherwise="values: "))
        return value

    def whole(self, key: str, default: int | None = None, *, least: int, most: int = 2**63 - 1) -> int:
        """A whole number from `least` to `most`."""
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
        """A number, exactly as it is written."""
        value = self.text(key, str(default))
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise self.error(key, f"takes a number, not {value!r}", f"'{key}' = '1'")
        return number

    def duration(self, key: str, default: str) -> int:
        """A duration in ms, such as '5 s', '500 ms', '1 min'."""
        value = self.text(key, default)
        ms = milliseconds(value)
        if ms is None:
            raise self.error(key, f"takes a duration, not {value!r}", f"'{key}' = '5 s' (ms, s, min, h, d)")
        return ms

    def time(self, key: str, default: str) -> int:
        """A point in time, 'yyyy-MM-dd HH:mm:ss[.SSS]' or a date, in epoch ms."""
        value = self.text(key, default)
        try:
            moment = datetime.fromisoformat(value.strip()).replace(tzinfo=UTC)
        except ValueError:
            raise self.error(key, f"takes a time, not {value!r}", f"'{key}' = '{default}'") from None
        return (moment - EPOCH) // timedelta(milliseconds=1)

    def error(self, key: str, problem: str, hint: str | None) -> BindError:
        """The error that an option's value is."""
        return BindError(f"{key} {problem}", span=self.spans.get(key.lower(), self.table), hint=hint)

    def refuse_unread(self, connector: str, also: Collection[str] = (), rare: Collection[str] = ()) -> None:
        """Raise BindError for an option that nobody asked for; `also` are names that the hint may give besides, `rare`
        those that it gives where they are close."""
        known = {key.lower(): key for key in self._read}
        for key in self.given:
            if key.lower() not in known:
                raise BindError(
                    f"connector {connector} has no option {key}",
                    span=self.spans.get(key.lower()),
                    hint=did_you_mean(key, {*known.values(), *also}, rare=rare),
                )
