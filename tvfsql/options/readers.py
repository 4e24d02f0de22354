"""Parse the texts of options. A reader takes the text, the option's key and its place. It raises OptionError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from tvfsql.errors import OptionError, Span, did_you_mean, nearest
from tvfsql.plan.start_mode import EXAMPLES, StartMode, start_mode
from tvfsql.plan.values.times import milliseconds
from tvfsql.plan.values.zone_names import regions, zone_name

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Reader = Callable[[str, str, Span | None], T]


@dataclass(frozen=True)
class Choice(Generic[E]):
    """Parses a word of an enum, in any case."""

    kind: type[E]

    def __call__(self, text: str, key: str, span: Span | None) -> E:
        words = {one.value.lower(): one for one in self.kind}
        if text.strip().lower() not in words:
            hint = did_you_mean(text, self.words, otherwise="values: ")
            raise OptionError(f"{key} cannot be {text!r}", span=span, hint=hint)
        return words[text.strip().lower()]

    @property
    def words(self) -> list[str]:
        return [one.value for one in self.kind]


class _Flag(Enum):
    TRUE = "true"
    FALSE = "false"


def flag(text: str, key: str, span: Span | None) -> bool:
    return Choice(_Flag)(text, key, span) is _Flag.TRUE


def count(text: str, key: str, span: Span | None) -> int:
    if not (text.isdigit() and int(text) > 0):
        raise OptionError(f"{key} takes a positive whole number, not {text!r}", span=span, hint="'128'")
    return int(text)


def count_or_unset(text: str, key: str, span: Span | None) -> int | None:
    return None if text == "-1" else count(text, key, span)


def zone(text: str, key: str, span: Span | None) -> str:
    """The name of a zone, as `zone_name` has it. A similar name is suggested only for one of a region (`Europe/Berln`):
    one like PST or GMT+25:00 says how far it is from UTC, and its neighbours are elsewhere.
    """
    found = zone_name(text.strip())
    if found is None:
        area, _, place = text.partition("/")
        close = nearest(text, regions(), 0.8) if place and area != "Etc" else None
        hint = f"did you mean {close}?" if close else "a region such as 'Europe/Berlin', or an offset, 'GMT+08:00'"
        raise OptionError(f"there is no time zone {text}", span=span, hint=hint)
    return found


def start(text: str, key: str, span: Span | None) -> StartMode:
    mode = start_mode(text)
    if mode is None:
        hint = did_you_mean(text, EXAMPLES, otherwise="values: ")
        if "TIMESTAMP" in text.upper():
            hint = "FROM_TIMESTAMP(TIMESTAMP '2026-01-01 00:00:00')"
        raise OptionError(f"{key} cannot be {text!r}", span=span, hint=hint)
    return mode


def text_of(text: str, key: str, span: Span | None) -> str:
    return text


def names(text: str, key: str, span: Span | None) -> frozenset[str]:
    return frozenset(filter(None, (name.strip() for name in text.split(","))))


def duration(text: str, key: str, span: Span | None = None) -> int:
    """Parse a duration to milliseconds; a bare number is milliseconds. Raises an OptionError that names the option
    `key`.
    """
    ms = milliseconds(text)
    if ms is None:
        raise OptionError(f"{key} takes a duration, not {text!r}", span=span, hint="'10 s', '500 ms', '5 min' or '1 h'")
    return ms
