"""The options that SET and `--set` know: Flink's names where Flink has one, `tvfsql.` where it has none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from zoneinfo import available_timezones

from tvfsql.errors import OptionError, Span, did_you_mean, nearest


@dataclass(frozen=True)
class Option:
    """A known key. `values` are the words it takes; none: free text."""

    key: str
    default: str
    doc: str
    values: tuple[str, ...] = ()


BOOLEAN = ("true", "false")
# The words of EXPLAIN: which stage is shown, and how.
STATE_TABLES = ("streams", "operators", "channels", "windows", "timers", "key-groups")
STAGES = ("ast", "logical", "trace", "physical", "code", "all")
EXPLAIN_FORMATS = ("text", "json", "mermaid", "html")
MODES = ("batch", "streaming", "automatic")
KEY_GROUPS = 4  # each costs its state calls in every micro-batch

_KNOWN = (
    Option("execution.runtime-mode", "automatic", "batch or streaming; automatic: batch over bounded tables", MODES),
    Option("table.local-time-zone", "UTC", "the wall clock that windows over TIMESTAMP_LTZ follow"),
    Option(
        "table.optimizer.agg-phase-strategy",
        "AUTO",
        "whether windows are made from slices (two phases) or from a copy of each row per window (one)",
        ("AUTO", "ONE_PHASE", "TWO_PHASE"),
    ),
    Option(
        "table.exec.source.rowtime-null-handling",
        "FAIL",
        "what a NULL in the time column does: fail; or be counted and dropped; or be counted and in no window",
        ("FAIL", "DROP", "SKIP_WATERMARK"),
    ),
    Option(
        "table.exec.source.idle-timeout",
        "0 ms",
        "after how long without rows a channel of a stream's source no longer holds windows up; 0: never",
    ),
    Option(
        "tvfsql.source.idle-advance",
        "true",
        "whether the open windows end when all sources of a stream are idle; false: as in Flink they wait",
        BOOLEAN,
    ),
    Option(
        "table.exec.state.ttl",
        "0 ms",
        "after how long without rows (of event time) deduplication on streams forgets a key; 0: never",
    ),
    Option(
        "table.optimizer.distinct-agg.split.enabled",
        "false",
        "whether aggregates with DISTINCT work in buckets of the values first, so that tasks share a hot key",
        BOOLEAN,
    ),
    Option("table.optimizer.distinct-agg.split.bucket-num", "1024", "how many buckets of DISTINCT values there are"),
    Option(
        "table.optimizer.reuse-sub-plan-enabled",
        "true",
        "whether what several INSERTs of a set have in common is computed once; in batch",
        BOOLEAN,
    ),
    Option(
        "pipeline.max-parallelism",
        str(KEY_GROUPS),
        "the key groups of a stream's window operators: as many tasks can share the work; a checkpoint keeps its own",
    ),
    Option(
        "tvfsql.cumulate.emit",
        "all",
        "which steps of CUMULATE come out: all, or those whose results differ from the step before",
        ("all", "changed"),
    ),
    Option(
        "table.exec.emit.early-fire.enabled",
        "false",
        "whether windows of a stream give out what they hold before their end",
        BOOLEAN,
    ),
    Option("table.exec.emit.early-fire.delay", "0 ms", "how long after a row, by the clock; 0: in its micro-batch"),
    Option(
        "table.exec.emit.late-fire.enabled",
        "false",
        "whether rows that come after the end of their window are gathered; false: each micro-batch gives them out",
        BOOLEAN,
    ),
    Option("table.exec.emit.late-fire.delay", "0 ms", "how long after the first of them, by the clock"),
    Option(
        "table.exec.emit.allow-lateness",
        "0 ms",
        "how long after its end, in event time, a window of a stream still takes rows",
    ),
    Option(
        "tvfsql.emit.late",
        "accumulate",
        "what windows that fire more than once give out: changes of the whole result, or (purge) what came since",
        ("accumulate", "purge"),
    ),
    Option("tvfsql.late-output", "", "a table for the rows of a stream that come too late for all their windows"),
    Option("tvfsql.rules.disabled", "", "names of planner rules that must not fire, separated by commas"),
)  # fmt: skip

KNOWN = {option.key: option for option in _KNOWN}


@dataclass(frozen=True)
class Options:
    """Values by key; what is not set has its default. Immutable: `with_value` gives a new one."""

    values: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, str] | None) -> Options:
        """Checked options. Raises OptionError for an unknown key or a bad value."""
        options = cls()
        for key, value in (values or {}).items():
            options = options.with_value(key, value)
        return options

    def __getitem__(self, key: str) -> str:
        return self.values.get(key, KNOWN[key].default)

    def with_value(self, key: str, value: str, span: Span | None = None) -> Options:
        """The same options with one more set. Raises OptionError."""
        known = _option(key, span)
        return Options({**self.values, key: _checked(known, value, span)})

    def without(self, key: str | None, span: Span | None = None) -> Options:
        """The same options with one (None: every one) back at its default. Raises OptionError."""
        if key is None:
            return Options()
        return Options({k: v for k, v in self.values.items() if k != _option(key, span).key})

    def listed(self) -> Iterator[tuple[str, str]]:
        """Every known key with its value, in order."""
        return ((key, self[key]) for key in sorted(KNOWN))

    @property
    def streaming(self) -> bool:
        """Whether the plan is for a stream."""
        return self["execution.runtime-mode"] == "streaming"

    @property
    def disabled_rules(self) -> frozenset[str]:
        return frozenset(filter(None, (name.strip() for name in self["tvfsql.rules.disabled"].split(","))))


def _option(key: str, span: Span | None) -> Option:
    if key not in KNOWN:
        raise OptionError(f"there is no option {key}", span=span, hint=did_you_mean(key, KNOWN))
    return KNOWN[key]


def _checked(option: Option, value: str, span: Span | None) -> str:
    if option.values:
        fitting = next((known for known in option.values if known.lower() == value.strip().lower()), None)
        if fitting is None:
            allowed = ", ".join(option.values)
            raise OptionError(f"{option.key} cannot be {value!r}", span=span, hint=f"values: {allowed}")
        return fitting
    if option.key == "table.local-time-zone" and value not in _zones():
        close = nearest(value, _zones())
        hint = f"did you mean {close}?" if close else "a name such as Europe/Berlin"
        raise OptionError(f"there is no time zone {value}", span=span, hint=hint)
    if option.key.endswith(("idle-timeout", "state.ttl", "fire.delay", "allow-lateness")):
        duration(value, option.key, span)
    if option.key.endswith(("bucket-num", "max-parallelism")) and not (value.isdigit() and int(value) > 0):
        raise OptionError(f"{option.key} takes a positive whole number, not {value!r}", span=span)
    return value


DURATION = re.compile(
    r"\s*(\d+)\s*(?:(ms|milli(?:s|seconds?)?)|(s|sec(?:onds?)?)|(m|min(?:utes?)?)|(h|hours?)|(d|days?))?\s*"
)


def duration(text: str, of: str, span: Span | None = None) -> int:
    """Milliseconds of a duration such as `500 ms`, `10 s`, `5 min`, `1 h`; a bare number is milliseconds.

    Raises OptionError that names the option `of`.
    """
    found = DURATION.fullmatch(text.lower())
    if found is None:
        raise OptionError(f"{of} takes a duration, not {text!r}", span=span, hint="'10 s', '500 ms', '5 min' or '1 h'")
    factors = (1, 1_000, 60_000, 3_600_000, 86_400_000)
    factor = next((factor for factor, unit in zip(factors, found.groups()[1:], strict=True) if unit), 1)
    return int(found.group(1)) * factor


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
