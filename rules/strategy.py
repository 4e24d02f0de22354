"""How windows are aggregated, as far as options decide it; shared by the rules that depend on it."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.options.known import DISABLED_RULES, PHASES
from tvfsql.options.words import Phases
from tvfsql.plan.window import TumbleMonths, Window

SPLIT = "split_local_global"  # the rule that makes windows from slices


def in_one_phase(options: Options) -> bool:
    """Whether no window may be merged from slices: in batch only, since streams have nothing but slices."""
    return options[PHASES] is Phases.ONE and not options.streaming


def months_in_batch(window: Window, options: Options) -> bool:
    """Whether the window has calendar months and the mode is batch: such windows are never merged from slices."""
    return isinstance(window, TumbleMonths) and not options.streaming


def has_slices(window: Window, options: Options) -> bool:
    """Whether the window is merged from slices if its aggregates can be merged."""
    return not (in_one_phase(options) or SPLIT in options[DISABLED_RULES] or months_in_batch(window, options))
