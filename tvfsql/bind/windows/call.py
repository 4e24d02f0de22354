"""Turns the arguments of a window call into a window, with all checks. Source: semantics.md#window-functions."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.errors import BindError, UnsupportedError, did_you_mean
from tvfsql.options import Options
from tvfsql.options.known import STEPS
from tvfsql.options.words import Steps
from tvfsql.plan.values.times import calendar, duration
from tvfsql.plan.window import Cumulate, Hop, Session, Tumble, TumbleMonths, Window, step_of
from tvfsql.plan.window_nodes import Fill
from tvfsql.syntax import ast

PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET", "FILL"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET", "FILL"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET", "EMITONLYONUPDATE", "FILL"),
    "SESSION": ("DATA", "TIMECOL", "GAP", "MAX_DURATION"),
    "WINDOWS": ("DATA", "TIMECOL"),
    "GAP_FILL": ("DATA", "TIMECOL", "BIN_WIDTH", "OFFSET", "MAX_GAP", "FILL"),
}
LENGTHS = ("SIZE", "SLIDE", "STEP", "GAP", "MAX_DURATION")
OPTIONAL = ("OFFSET", "EMITONLYONUPDATE", "MAX_DURATION", "MAX_GAP", "FILL")
NAMED = ("FILL", "MAX_GAP")  # which Flink lacks: their place may become that of another parameter
USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), slide, size [, offset])",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), step, size [, offset [, emit only on update]])",
    "SESSION": "SESSION(TABLE t [PARTITION BY k], DESCRIPTOR(ts), gap [, max duration])",
    "WINDOWS": "WINDOWS(TABLE t, DESCRIPTOR(ts), TUMBLE(INTERVAL '1' MINUTE) AS minute, ...)",
    "GAP_FILL": "GAP_FILL(TABLE t [PARTITION BY k], DESCRIPTOR(ts), bin width [, offset] [, LOCF(x)] "
    "[, INTERPOLATE(y)] [, KEEPNULL(z)] [, MAX_GAP => interval])",
}
PARTITIONED = ("SESSION", "WINDOWS", "GAP_FILL")  # the functions whose table takes PARTITION BY and ORDER BY


@dataclass(frozen=True)
class BoundCall:
    """A window call: its input (for SESSION with PARTITION BY), the name of its time column with its qualifier, if it
    has one, its window, and whether windows without rows are wanted.
    """

    input: ast.Input
    time: ast.Name
    table: str | None
    window: Window
    fill: Fill | None = None


def bind_window(call: ast.WindowCall, options: Options) -> BoundCall:
    """Return the window of a call. CUMULATE also stores the option `tvfsql.cumulate.emit`.

    Raises BindError, or UnsupportedError for a window that cannot be planned.
    """
    given = by_name(call)
    data, time = input_of(call, given)
    window = _window(call, given, options)
    fill = _fill(call.function, given["FILL"], window, options) if "FILL" in given else None
    return BoundCall(data, time.columns[0], time.table, window, fill)


def input_of(call: ast.WindowCall, given: dict[str, ast.Argument]) -> tuple[ast.Input, ast.Descriptor]:
    """The table of a call and its time column. Raises BindError."""
    data, time = given["DATA"].value, given["TIMECOL"].value
    if not isinstance(data, ast.Input):
        text = data.text if isinstance(data, ast.Other) else "t"
        hint = f"TABLE {text}" if text.replace("_", "").isalnum() else USAGE[call.function]
        raise BindError(f"the first argument of {call.function} must be a table", span=data.span, hint=hint)
    if data.partition_by and call.function not in PARTITIONED:
        raise BindError(
            f"{call.function} takes no PARTITION BY",
            span=data.partition_by[0].span,
            hint=f"GROUP BY {data.partition_by[0].text}, window_start, window_end",
        )
    if data.order_by and call.function not in PARTITIONED:
        raise BindError(f"{call.function} takes no ORDER BY", span=data.order_by[0].span, hint="leave it out")
    if not isinstance(time, ast.Descriptor):
        if data.partition_by and isinstance(time, ast.Other):
            keys = ", ".join((*(name.text for name in data.partition_by), time.text))
            raise BindError(
                "several columns of PARTITION BY need parentheses",
                span=time.span,
                hint=f"PARTITION BY ({keys})",
            )
        text = time.text if isinstance(time, ast.Other) else "ts"
        raise BindError(
            f"the time column of {call.function} must be in DESCRIPTOR()",
            span=time.span,
            hint=f"DESCRIPTOR({text})",
        )
    if len(time.columns) > 1:
        raise BindError(
            "DESCRIPTOR takes one time column", span=time.columns[1].span, hint=f"DESCRIPTOR({time.columns[0].text})"
        )
    for name in data.order_by:
        if name.text.lower() != time.columns[0].text.lower() or name in data.descending:
            raise BindError(
                f"{call.function} can only be ordered by {time.columns[0].text}",
                span=name.span,
                hint="leave out ORDER BY",
            )
    return data, time


def _fill(function: str, argument: ast.Argument, window: Window, options: Options) -> Fill | None:
    """How long windows without rows follow the last one with rows of a key."""
    value = argument.value
    hint = "FILL => INTERVAL '1' HOUR"
    if isinstance(value, ast.Flag):
        if value.value and options.streaming:
            reason = "a stream must know how long the windows of a key go on without rows"
            raise UnsupportedError(reason, span=value.span, hint=hint)
        retention = None
    elif not isinstance(value, ast.Interval):
        raise BindError("FILL takes an interval, or in batch TRUE", span=value.span, hint=hint)
    else:
        retention = interval_of(function, "FILL", argument)
    if not isinstance(window, Tumble | Hop | Cumulate):
        raise UnsupportedError(
            "FILL does not work with windows of calendar months", span=argument.span, hint="INTERVAL '30' DAY"
        )
    if isinstance(window, Cumulate) and (window.emit_only_on_update or window.emit_only_on_change):
        raise UnsupportedError(
            "FILL does not work with a CUMULATE that emits only steps with changes",
            span=argument.span,
            hint="leave out FILL",
        )
    step = step_of(window)
    if retention is not None and retention < step:
        raise BindError(
            f"FILL ({duration(retention)}) is shorter than the time from one window to the next ({duration(step)}), so "
            "no window would be filled",
            span=argument.span,
            hint=f"FILL => {literal_of(step)}",
        )
    wanted = not isinstance(value, ast.Flag) or value.value
    return Fill(retention, argument.span) if wanted else None


def _window(call: ast.WindowCall, given: dict[str, ast.Argument], options: Options) -> Window:
    if call.function == "TUMBLE" and _in_months(given["SIZE"]):
        return _months(given)
    lengths = {name: length_of(call.function, name, given[name]) for name in given if name in LENGTHS}
    if call.function == "SESSION":
        limit = lengths.get("MAX_DURATION")
        if limit is not None and limit <= lengths["GAP"]:
            raise BindError(
                f"the gap of SESSION ({duration(lengths['GAP'])}) is not shorter than its limit ({duration(limit)})",
                span=given["MAX_DURATION"].span,
                hint="the gap comes first: SESSION(TABLE t, DESCRIPTOR(ts), gap, max duration)",
            )
        return Session(lengths["GAP"], limit)
    offset = interval_of(call.function, "OFFSET", given["OFFSET"]) if "OFFSET" in given else 0
    size = lengths["SIZE"]
    if call.function == "TUMBLE":
        return Tumble(size, offset)
    if call.function == "HOP":
        return Hop(lengths["SLIDE"], size, offset)
    step = lengths["STEP"]
    if step > size:
        raise BindError(
            f"the step of CUMULATE ({duration(step)}) is longer than its size ({duration(size)})",
            span=given["STEP"].span,
            hint=_swapped(call, "STEP", step, size),
        )
    if size % step:
        raise BindError(
            f"the size of CUMULATE ({duration(size)}) is not a multiple of its step ({duration(step)})",
            span=given["SIZE"].span,
            hint=f"{literal_of(size - size % step)} or {literal_of(size - size % step + step)}",
        )
    on_update = "EMITONLYONUPDATE" in given and _flag(given["EMITONLYONUPDATE"])
    return Cumulate(step, size, offset, on_update, options[STEPS] is Steps.CHANGED)


def by_name(call: ast.WindowCall) -> dict[str, ast.Argument]:
    """The arguments by parameter name, whether they were passed by name or by position."""
    if call.function not in PARAMETERS:
        hint = did_you_mean(call.function, PARAMETERS, otherwise="window functions: ")
        raise BindError(f"there is no window function {call.function}", span=call.span, hint=hint)
    names = PARAMETERS[call.function]
    by_position = [name for name in names if name not in NAMED]
    given: dict[str, ast.Argument] = {}
    for i, argument in enumerate(call.arguments):
        if argument.name is None and i >= len(by_position):
            raise BindError(
                f"{call.function} takes at most {len(by_position)} arguments",
                span=argument.span,
                hint=USAGE[call.function],
            )
        if argument.name is None and any(before.name for before in call.arguments[:i]):
            raise BindError(
                "arguments after a named one must be named too",
                span=argument.span,
                hint=f"{call.function}({', '.join(f'{name} => ...' for name in names if name not in OPTIONAL)})",
            )
        name = argument.name.text.upper() if argument.name else by_position[i]
        if name not in names:
            assert argument.name is not None
            hint = did_you_mean(name, names, otherwise="parameters: ")
            raise BindError(
                f"{call.function} has no parameter {argument.name.text}", span=argument.name.span, hint=hint
            )
        if name in given:
            raise BindError(f"{name} is given twice", span=argument.span, hint=USAGE[call.function])
        given[name] = argument
    missing = [name for name in names if name not in given and name not in OPTIONAL]
    if not any(isinstance(argument.value, ast.Descriptor | ast.Other) for argument in call.arguments):
        missing = [name for name in names if name in missing or name == "TIMECOL"]
    for name in missing:
        if name not in given or len(missing) > 1:
            what = {"DATA": "table", "TIMECOL": "DESCRIPTOR"}.get(name, _word(name))
            raise BindError(f"{call.function} needs a {what}", span=call.span, hint=USAGE[call.function])
    return given


def length_of(function: str, name: str, argument: ast.Argument) -> int:
    ms = interval_of(function, name, argument)
    if ms <= 0:
        raise BindError(
            f"the {_word(name)} of {function} must be positive, not {duration(ms)}",
            span=argument.span,
        )
    return ms


def interval_of(function: str, name: str, argument: ast.Argument) -> int:
    value = argument.value
    if not isinstance(value, ast.Interval):
        hint = "INTERVAL '10' MINUTE"
        if isinstance(value, ast.Descriptor) and function == "SESSION":
            keys = ", ".join(column.text for column in value.columns)
            hint = f"keys come after the table: TABLE t PARTITION BY {f'({keys})' if ',' in keys else keys}"
        raise BindError(f"the {_word(name)} of {function} must be an interval literal", span=value.span, hint=hint)
    if value.months:
        years, months = divmod(value.months, 12)
        alone = "" if function == "TUMBLE" else ": only TUMBLE has calendar windows"
        raise UnsupportedError(
            f"the {_word(name)} of {function} cannot be in {'months' if months else 'years'}{alone}",
            span=value.span,
            hint=f"INTERVAL '{years * 365 + months * 30}' DAY",
        )
    return value.ms


def _in_months(argument: ast.Argument) -> bool:
    return isinstance(argument.value, ast.Interval) and argument.value.months != 0


def _months(given: dict[str, ast.Argument]) -> TumbleMonths:
    """A TUMBLE of calendar months. Its offset can be in months, or in days and smaller units."""
    size, offset = given["SIZE"].value, given.get("OFFSET")
    assert isinstance(size, ast.Interval), size
    if size.months < 0:
        raise BindError(f"the size of TUMBLE must be positive, not {calendar(size.months)}", span=given["SIZE"].span)
    if offset is None:
        return TumbleMonths(size.months)
    if _in_months(offset):
        assert isinstance(offset.value, ast.Interval), offset
        return TumbleMonths(size.months, offset.value.months % size.months)
    return TumbleMonths(size.months, 0, interval_of("TUMBLE", "OFFSET", offset))


def _flag(argument: ast.Argument) -> bool:
    if not isinstance(argument.value, ast.Flag):
        raise BindError("this argument must be TRUE or FALSE", span=argument.span)
    return argument.value.value


def _swapped(call: ast.WindowCall, first: str, longer: int, shorter: int) -> str:
    """The call with its two lengths swapped, written as the user wrote it: with or without names."""
    if any(argument.name for argument in call.arguments):
        return f"{first} => {literal_of(shorter)}, SIZE => {literal_of(longer)}"
    return (
        f"the {first.lower()} comes before the size: "
        f"{call.function}(TABLE t, DESCRIPTOR(ts), {literal_of(shorter)}, {literal_of(longer)})"
    )


def literal_of(ms: int) -> str:
    number, unit = duration(ms).split()
    names = {"d": "DAY", "h": "HOUR", "min": "MINUTE", "s": "SECOND"}
    return f"INTERVAL '{number}' {names[unit]}" if unit in names else f"INTERVAL '{ms / 1000:g}' SECOND"


def _word(parameter: str) -> str:
    """A parameter as an error message names it."""
    return parameter.lower().replace("_", " ")
