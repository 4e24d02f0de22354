"""The options that a session or a script has set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from tvfsql.errors import OptionError, Span, did_you_mean
from tvfsql.options import ignored
from tvfsql.options.known import (
    FINAL,
    IDLE_ADVANCE,
    IDLE_TIMEOUT,
    INTERVAL,
    KNOWN,
    MISSING_FILES,
    NAME,
    PACE,
    PACE_BETWEEN_WINDOWS,
    REAL_TIME,
    RUNTIME_MODE,
    START_MODE,
)
from tvfsql.options.option import Option
from tvfsql.options.words import MissingFiles, Mode
from tvfsql.plan import stream
from tvfsql.plan.start_mode import USUAL, StartMode
from tvfsql.secrets import shown

T = TypeVar("T")
OF_SPARK = "spark."


@dataclass(frozen=True)
class StreamOptions:
    """How a stream runs. `idle_timeout`: ms without rows after which a source is idle if its table does not say; 0:
    never. `idle_advance`: whether open windows fire when all sources are idle, and the rest of their rows is late.
    `count_missing_files`: whether files
    that are deleted before they are read are counted; otherwise they are an error. `interval`: ms between the starts of
    two micro-batches of an unbounded stream; 0: as soon as there are rows, but at least `pace` ms apart, or
    `between_windows` while rows only wait for windows. `name`: the query's name; "": no name. `start`: where it starts.
    `final`: whether a bounded run over a checkpoint closes its tables. `real_time`: whether an unbounded stream runs in
    Spark's real-time mode.
    """

    idle_timeout: int = 0
    idle_advance: bool = False
    count_missing_files: bool = False
    interval: int = 0
    name: str = ""
    start: StartMode = USUAL
    final: bool = False
    pace: int = stream.PACE
    between_windows: int = stream.PACE_BETWEEN_WINDOWS
    real_time: bool = False


@dataclass(frozen=True)
class Options:
    """The options that were set, as text by key; others have their defaults. Immutable: `with_value` returns a new
    object.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    emit: str = ""  # the clause EMIT of the statement that they are for, which has set some of them

    @classmethod
    def of(cls, values: Mapping[str, str] | None) -> Options:
        """Checked options. Raises OptionError for an unknown key or a bad value."""
        options = cls()
        for key, value in (values or {}).items():
            options = options.with_value(key, value)
        return options

    def __getitem__(self, option: Option[T]) -> T:
        return option.read(self.text(option.key), option.key, None)

    def text(self, key: str) -> str:
        """The value as it was set, or its default; "" for one of Spark's settings that was not set."""
        if key in self.values or key in KNOWN:
            return self.values[key] if key in self.values else KNOWN[key].default
        return ""

    @property
    def ignored(self) -> tuple[str, ...]:
        """The options that are set but have no effect here, in order."""
        nothing = (key for key in self.values if key not in KNOWN and not key.startswith(OF_SPARK))
        return tuple(key for key in nothing if key not in ignored.SETTLED)

    @property
    def spark(self) -> dict[str, str]:
        """Spark's own settings, which are passed to Spark as they are."""
        return {key: value for key, value in self.values.items() if key.startswith(OF_SPARK)}

    def with_value(self, key: str, value: str, span: Span | None = None) -> Options:
        """The same options with one more set. Raises OptionError."""
        if key.startswith(OF_SPARK):
            return Options({**self.values, key: value})
        if ignored.is_ignored(key) and key not in KNOWN:
            if hint := ignored.instead(key, value):
                raise OptionError(f"{key} cannot be {value!r}", span=span, hint=hint)
            return Options({**self.values, key: value})
        read = _option(key, span).read(value, key, span)
        shown = read.value if isinstance(read, Enum) else str(read).lower() if isinstance(read, bool) else value
        return Options({**self.values, key: shown})

    def reset(self, key: str | None, opened: Options, span: Span | None = None) -> Options:
        """Return the same options with one (None: every one) as it is in `opened`. Raises OptionError."""
        if key is None:
            return opened
        if not ignored.is_ignored(key) and not key.startswith(OF_SPARK):
            _option(key, span)
        values = {k: v for k, v in self.values.items() if k != key}
        return Options(values | ({key: opened.values[key]} if key in opened.values else {}))

    def listed(self) -> Iterator[tuple[str, str]]:
        """Every key that has a meaning, and those that are set, with their values in order."""
        return ((key, shown(key, self.text(key))) for key in sorted({*KNOWN, *self.values}))

    @property
    def streaming(self) -> bool:
        """Whether the plan is for a stream."""
        return self[RUNTIME_MODE] is Mode.STREAMING

    @property
    def of_streams(self) -> StreamOptions:
        counted = self[MISSING_FILES] is MissingFiles.COUNT
        return StreamOptions(
            idle_timeout=self[IDLE_TIMEOUT],
            idle_advance=self[IDLE_ADVANCE],
            count_missing_files=counted,
            interval=self[INTERVAL],
            name=self[NAME],
            start=self[START_MODE],
            final=self[FINAL],
            pace=self[PACE],
            between_windows=self[PACE_BETWEEN_WINDOWS],
            real_time=self[REAL_TIME],
        )


def _option(key: str, span: Span | None) -> Option[Any]:
    if key not in KNOWN:
        raise OptionError(f"there is no option {key}", span=span, hint=did_you_mean(key, KNOWN, rare=ignored.names()))
    return KNOWN[key]
