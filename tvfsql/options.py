"""The options that SET and `--set` accept: Flink's names where Flink has one, `tvfsql.` otherwise.

`options[STATE_TTL]` is a value of the option's type; the text that was set is read here alone. Keys that begin with
`spark.` are Spark's own settings: `options.spark`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar
from zoneinfo import available_timezones

from tvfsql import ignored_options
from tvfsql.errors import OptionError, Span, did_you_mean, nearest
from tvfsql.plan.durations import milliseconds
from tvfsql.plan.start_mode import EXAMPLES, USUAL, StartMode, start_mode
from tvfsql.secrets import shown

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Reader = Callable[[str, str, Span | None], T]  # parses a text, given its key and its place. Raises OptionError


@dataclass(frozen=True)
class StreamOptions:
    """How a stream runs. `idle_timeout`: ms without rows after which a source is idle if its table does not say; 0:
    never. `idle_advance`: whether open windows fire when all sources are idle. `count_missing_files`: whether files
    that are deleted before they are read are counted; otherwise they are an error. `interval`: ms between the starts of
    two micro-batches of an unbounded stream; 0: as soon as there are rows. `name`: the query's name; "": no name.
    `start`: where it starts.
    """

    idle_timeout: int = 0
    idle_advance: bool = True
    count_missing_files: bool = False
    interval: int = 0
    name: str = ""
    start: StartMode = USUAL


@dataclass(frozen=True)
class Option(Generic[T]):
    """A known key. `read` parses its value from text; `default` is such a text."""

    key: str
    read: Reader[T]
    default: str
    doc: str

    @property
    def words(self) -> Sequence[str]:
        """Its possible values, if they are few: words, or zones."""
        if self.read is _zone:
            return sorted(_zones())
        return ("true", "false") if self.read is _flag else getattr(self.read, "words", ())


class Mode(Enum):
    BATCH = "batch"
    STREAMING = "streaming"
    AUTOMATIC = "automatic"


class Phases(Enum):
    AUTO = "AUTO"
    ONE = "ONE_PHASE"
    TWO = "TWO_PHASE"


class NullTimes(Enum):
    """The treatment of rows whose time is NULL."""

    FAIL = "FAIL"
    DROP = "DROP"
    SKIP_WATERMARK = "SKIP_WATERMARK"

    def __str__(self) -> str:
        """The text for EXPLAIN."""
        return self.value.lower()


class MissingFiles(Enum):
    """The treatment of files that are deleted before a stream reads them."""

    FAIL = "FAIL"
    COUNT = "COUNT"


class ResultMode(Enum):
    """How the shell shows the rows of a stream."""

    TABLE = "TABLE"
    CHANGELOG = "CHANGELOG"
    TABLEAU = "TABLEAU"


class Steps(Enum):
    ALL = "all"
    CHANGED = "changed"


class LateRecords(Enum):
    DROP = "drop"
    ADJUST = "adjust"


class LateResults(Enum):
    ACCUMULATE = "accumulate"
    PURGE = "purge"


@dataclass(frozen=True)
class _choice(Generic[E]):
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


def _flag(text: str, key: str, span: Span | None) -> bool:
    return _choice(_Flag)(text, key, span) is _Flag.TRUE


def _count(text: str, key: str, span: Span | None) -> int:
    if not (text.isdigit() and int(text) > 0):
        raise OptionError(f"{key} takes a positive whole number, not {text!r}", span=span, hint="'128'")
    return int(text)


def _count_or_unset(text: str, key: str, span: Span | None) -> int | None:
    return None if text == "-1" else _count(text, key, span)


def _zone(text: str, key: str, span: Span | None) -> str:
    if text not in _zones():
        close = nearest(text, _zones())
        hint = f"did you mean {close}?" if close else "'Europe/Berlin'"
        raise OptionError(f"there is no time zone {text}", span=span, hint=hint)
    return text


def _start(text: str, key: str, span: Span | None) -> StartMode:
    mode = start_mode(text)
    if mode is None:
        hint = did_you_mean(text, EXAMPLES, otherwise="values: ")
        if "TIMESTAMP" in text.upper():
            hint = "FROM_TIMESTAMP(TIMESTAMP '2026-01-01 00:00:00')"
        raise OptionError(f"{key} cannot be {text!r}", span=span, hint=hint)
    return mode


def _text(text: str, key: str, span: Span | None) -> str:
    return text


def _names(text: str, key: str, span: Span | None) -> frozenset[str]:
    return frozenset(filter(None, (name.strip() for name in text.split(","))))


def duration(text: str, key: str, span: Span | None = None) -> int:
    """Parse a duration to milliseconds; a bare number is milliseconds. Raises an OptionError that names the option
    `key`.
    """
    ms = milliseconds(text)
    if ms is None:
        raise OptionError(f"{key} takes a duration, not {text!r}", span=span, hint="'10 s', '500 ms', '5 min' or '1 h'")
    return ms


OF_SPARK = "spark."
KNOWN: dict[str, Option[Any]] = {}


def _known(key: str, read: Reader[T], default: str, doc: str) -> Option[T]:
    option = Option(key, read, default, doc)
    KNOWN[key] = option
    return option


RUNTIME_MODE = _known(
    "execution.runtime-mode",
    _choice(Mode),
    "automatic",
    "batch, streaming, or automatic: streaming only if a table is unbounded",
)
ZONE = _known("table.local-time-zone", _zone, "UTC", "the time zone whose wall clock windows over TIMESTAMP_LTZ follow")
INTERVAL = _known(
    "execution.checkpointing.interval",
    duration,
    "0 ms",
    "the time between two micro-batches of an unbounded stream; 0: as soon as there are rows",
)
START_MODE = _known(
    "tvfsql.start-mode",
    _start,
    str(USUAL),
    "where a stream starts: at its checkpoint, or at a place in its sources, in the words of Flink's START_MODE",
)
NAME = _known("pipeline.name", _text, "", "the name of a stream's query in Spark")
PHASES = _known(
    "table.optimizer.agg-phase-strategy",
    _choice(Phases),
    "AUTO",
    "whether windows are made from slices (two phases) or from a copy of each row per window (one)",
)
NULL_TIMES = _known(
    "table.exec.source.rowtime-null-handling",
    _choice(NullTimes),
    "FAIL",
    "what happens to a NULL in the time column: fail the query, drop the row, or keep it out of windows",
)
IDLE_TIMEOUT = _known(
    "table.exec.source.idle-timeout",
    duration,
    "0 ms",
    "the time without rows after which a channel is idle and no longer holds windows back; 0: never",
)
IDLE_ADVANCE = _known(
    "tvfsql.source.idle-advance",
    _flag,
    "true",
    "whether open windows fire when all sources of a stream are idle; false: they wait, as in Flink",
)
MISSING_FILES = _known(
    "tvfsql.source.missing-files",
    _choice(MissingFiles),
    "FAIL",
    "whether a file that is deleted before a stream reads it is an error or is counted",
)
STATE_TTL = _known(
    "table.exec.state.ttl",
    duration,
    "0 ms",
    "the event time without rows after which deduplication on streams forgets a key; 0: never",
)
DISTINCT_SPLIT = _known(
    "table.optimizer.distinct-agg.split.enabled",
    _flag,
    "false",
    "whether aggregates with DISTINCT are computed in buckets of values first, so that tasks share a hot key",
)
BUCKETS = _known(
    "table.optimizer.distinct-agg.split.bucket-num", _count, "1024", "the number of buckets of DISTINCT values"
)
REUSE = _known(
    "table.optimizer.reuse-sub-plan-enabled",
    _flag,
    "true",
    "whether parts that several INSERTs of a statement set share are computed once",
)
KEY_GROUPS = _known(
    "pipeline.max-parallelism",
    _count_or_unset,
    "-1",
    "the number of key groups of a new stream, which limits its parallelism; -1: by cores. Its checkpoint keeps it",
)
STEPS = _known(
    "tvfsql.cumulate.emit",
    _choice(Steps),
    "all",
    "which steps CUMULATE emits: all, or those whose results differ from the step before",
)
EARLY_FIRE = _known(
    "table.exec.emit.early-fire.enabled",
    _flag,
    "false",
    "whether windows of a stream emit results before their end",
)
EARLY_DELAY = _known(
    "table.exec.emit.early-fire.delay",
    duration,
    "0 ms",
    "the delay of early results after a row; 0: in its micro-batch",
)
LATE_FIRE = _known(
    "table.exec.emit.late-fire.enabled",
    _flag,
    "false",
    "whether late rows that are allowed are collected and emitted together; false: in each micro-batch",
)
LATE_DELAY = _known(
    "table.exec.emit.late-fire.delay", duration, "0 ms", "the delay of collected late rows after the first of them"
)
LATENESS = _known(
    "table.exec.emit.allow-lateness",
    duration,
    "0 ms",
    "how long after its end, in event time, a window of a stream accepts rows",
)
LATE_RESULTS = _known(
    "tvfsql.emit.late",
    _choice(LateResults),
    "accumulate",
    "what a window emits when it fires again: changes of its whole result, or with purge only what arrived since",
)
LATE_RECORDS = _known(
    "tvfsql.late",
    _choice(LateRecords),
    "drop",
    "what windows of a stream do with rows that are late for all of them: drop them, or count them in the first open"
    " window",
)
LATE_OUTPUT = _known(
    "tvfsql.late-output", _text, "", "a table for rows of a stream that are late for all their windows"
)
DEAD_LETTER = _known(
    "tvfsql.dead-letter",
    _text,
    "",
    "a table for rows and messages that streams cannot read; without it they stop the query",
)
WAREHOUSE = _known(
    "tvfsql.warehouse", _text, "", "the folder of tables without a connector; by default a temporary one"
)
RESULT_MODE = _known(
    "sql-client.execution.result-mode",
    _choice(ResultMode),
    "TABLE",
    "how the shell shows a stream: a table that changes in place, its changes, or one table after the other",
)
MOST_ROWS = _known(
    "sql-client.execution.max-table-result.rows",
    _count,
    "100000",
    "how many rows of a stream the shell keeps; it drops the oldest first",
)
DISABLED_RULES = _known("tvfsql.rules.disabled", _names, "", "planner rules that must not fire, separated by commas")


@dataclass(frozen=True)
class Options:
    """The options that were set, as text by key; others have their defaults. Immutable: `with_value` returns a new
    object.
    """

    values: Mapping[str, str] = field(default_factory=dict)

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
        return tuple(key for key in nothing if key not in ignored_options.SETTLED)

    @property
    def spark(self) -> dict[str, str]:
        """Spark's own settings, which are passed to Spark as they are."""
        return {key: value for key, value in self.values.items() if key.startswith(OF_SPARK)}

    def with_value(self, key: str, value: str, span: Span | None = None) -> Options:
        """The same options with one more set. Raises OptionError."""
        if key.startswith(OF_SPARK):
            return Options({**self.values, key: value})
        if ignored_options.is_ignored(key) and key not in KNOWN:
            if hint := ignored_options.instead(key, value):
                raise OptionError(f"{key} cannot be {value!r}", span=span, hint=hint)
            return Options({**self.values, key: value})
        read = _option(key, span).read(value, key, span)
        shown = read.value if isinstance(read, Enum) else str(read).lower() if isinstance(read, bool) else value
        return Options({**self.values, key: shown})

    def without(self, key: str | None, span: Span | None = None) -> Options:
        """Return the same options with one (None: every one) reset to its default. Raises OptionError."""
        if key is None:
            return Options()
        if not ignored_options.is_ignored(key) and not key.startswith(OF_SPARK):
            _option(key, span)
        return Options({k: v for k, v in self.values.items() if k != key})

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
            self[IDLE_TIMEOUT], self[IDLE_ADVANCE], counted, self[INTERVAL], self[NAME], self[START_MODE]
        )


def _option(key: str, span: Span | None) -> Option[Any]:
    if key not in KNOWN:
        raise OptionError(
            f"there is no option {key}", span=span, hint=did_you_mean(key, KNOWN, rare=ignored_options.names())
        )
    return KNOWN[key]


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
