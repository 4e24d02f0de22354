"""How windows are aggregated, as far as options decide it: for all rules that depend on it."""

from __future__ import annotations

from tvfsql.options import DISABLED_RULES, PHASES, Options, Phases
from tvfsql.plan.window import TumbleMonths, Window

SPLIT = "split_local_global"  # the rule that makes windows from slices


def in_one_phase(options: Options) -> bool:
    """Whether no window is to be made from slices."""
    return options[PHASES] is Phases.ONE


def months_in_batch(window: Window, options: Options) -> bool:
    """Windows that are never made from slices."""
    return isinstance(window, TumbleMonths) and not options.streaming


def has_slices(window: Window, options: Options) -> bool:
    """Whether a window of aggregates that can be merged is made from slices."""
    return not (in_one_phase(options) or SPLIT in options[DISABLED_RULES] or months_in_batch(window, options))
