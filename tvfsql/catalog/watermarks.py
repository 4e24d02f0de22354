"""The options of a table's WITH clause on its watermark and late rows, which every connector accepts.

Source: semantics.md#watermarks, semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.options.known import LATE_OUTPUT
from tvfsql.options.readers import duration

STRATEGY = "scan.watermark.emit.strategy"
IDLE_TIMEOUT = "scan.watermark.idle-timeout"
STRATEGIES = ("on-periodic", "on-event")


@dataclass(frozen=True)
class WatermarkOptions:
    """`on_event`: the watermark advances with each row, not once per micro-batch. `idle_timeout`: milliseconds; None:
    unset. `late_output`: the table for its late rows, "" for none; None: the one that SET names.
    """

    on_event: bool = False
    idle_timeout: int | None = None
    late_output: str | None = None


def watermark_options(options: Mapping[str, str], spans: Mapping[str, Span]) -> tuple[WatermarkOptions, dict[str, str]]:
    """Return these options, and the remaining ones for the connector. Raises BindError or OptionError."""
    rest = {key: value for key, value in options.items() if key not in (STRATEGY, IDLE_TIMEOUT, LATE_OUTPUT.key)}
    strategy = options.get(STRATEGY, STRATEGIES[0])
    if strategy not in STRATEGIES:
        hint = did_you_mean(strategy, STRATEGIES)
        raise BindError(f"{STRATEGY} cannot be {strategy!r}", span=spans[STRATEGY], hint=hint)
    idle = duration(options[IDLE_TIMEOUT], IDLE_TIMEOUT, spans[IDLE_TIMEOUT]) if IDLE_TIMEOUT in options else None
    return WatermarkOptions(strategy == "on-event", idle, options.get(LATE_OUTPUT.key)), rest
