"""The facts of an expression, from its tree, before Flink's functions are lowered and after; the bounds of columns
that a condition states; and whether a time rises with the only column that it is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made
from tvfsql.bind.flink.zone import local_zone
from tvfsql.bind.infer import infer
from tvfsql.bind.spark_text.functions import function_name, is_proctime
from tvfsql.bind.spark_text.text import with_holes
from tvfsql.bind.user_function_calls import user_of, users_in
from tvfsql.errors import Span
from tvfsql.plan.values.facts import SAFE, Facts, fails
from tvfsql.plan.values.scalar import Among, Bound, Rising, Scalar
from tvfsql.plan.values.types import BIGINT, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, UNKNOWN, SqlType
from tvfsql.plan.values.zone_names import largest_change

TypeOf = Callable[[exp.Expr], SqlType]
RANDOM = (
    "rand", "rand_integer", "randn", "random", "uuid", "shuffle", "monotonically_increasing_id", "spark_partition_id"
)  # fmt: skip
# functions whose value is the time of the query or of the micro-batch
CLOCK = (
    "current_date", "curdate", "current_time", "curtime", "current_timestamp", "current_row_timestamp", "localtime",
    "localtimestamp", "now"
)  # fmt: skip
CLOCK_WITHOUT_ARGUMENTS = ("unix_timestamp", "unix_date")
# operators that compute nothing that could fail, and nodes that compute nothing
SAFE_NODES = (
    exp.Column,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Connector,
    exp.Not,
    exp.Predicate,
    exp.Escape,
    exp.DPipe,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.Interval,
    exp.IntervalSpan,
    exp.Dot,
    exp.Alias,
    exp.Tuple,
    exp.Identifier,
    exp.Var,
    exp.Lambda,
    exp.DataType,
    exp.DataTypeParam,
    exp.PropertyEQ,
    exp.TryCast,
    exp.StartsWith,
)


def facts_of(written: exp.Expr, lowered: exp.Expr, type_of: TypeOf) -> Facts:
    """The facts of an expression: `written` by the user with Flink's functions, `lowered` to Spark's."""
    calls = [*written.find_all(exp.Func)]
    return Facts(
        not any(function_name(call) in RANDOM for call in calls)
        and all(function.deterministic for function in users_in(lowered)),
        any(map(_reads_clock, calls)),
        any(_can_fail(node, type_of) for node in lowered.walk()),
    )


def _reads_clock(call: exp.Func) -> bool:
    name = function_name(call)
    if name in CLOCK_WITHOUT_ARGUMENTS:
        return not any(call.iter_expressions())
    return is_proctime(call) or (user_of(call) is None and name in CLOCK)


def _can_fail(node: exp.Expr, type_of: TypeOf) -> bool:
    """Whether a node itself can fail for some values of its operands."""
    match node:
        case Made():
            return fails(node.template)
        case exp.Anonymous() if user_of(node):
            return False
        case exp.Query() | exp.Window():
            return True
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            return _reads_text([node.left, node.right], type_of)
        case exp.Between():
            return _reads_text([node.this, node.args["low"], node.args["high"]], type_of)
        case exp.In():
            return bool(node.args.get("query")) or _reads_text([node.this, *node.expressions], type_of)
        case exp.Add() | exp.Sub() if isinstance(node.right, exp.Interval):  # a time stays in its range
            return False
        case exp.Neg():
            return not isinstance(node.this, exp.Literal)
    return not isinstance(node, SAFE_NODES) and function_name(node) not in SAFE


def _reads_text(values: list[exp.Expr], type_of: TypeOf) -> bool:
    """Whether text is compared with other values, which Spark then reads from it."""
    kinds = {type_of(value) for value in values}
    return STRING in kinds and len(kinds) > 1


# The bounds of columns that a condition states, from its tree in Spark's words.


def string_of(lowered: exp.Expr) -> str | None:
    """The value of a string literal, also of one that is cast to STRING; None for others."""
    lowered = lowered.unnest()
    if isinstance(lowered, exp.Cast) and infer(lowered, {}) == STRING:
        lowered = lowered.this.unnest()
    return lowered.name if isinstance(lowered, exp.Literal) and lowered.is_string else None


def among_of(lowered: exp.Expr) -> Among | None:
    """The strings that a condition compares a column with, if it states nothing else: `x = 'a'`, `x IN ('a', 'b')`."""
    match lowered.unnest():
        case exp.EQ() as equal:
            left, right = equal.left.unnest(), equal.right.unnest()
            column, values = (left, [right]) if isinstance(left, exp.Column) else (right, [left])
        case exp.In(args={"query": None} | {"expressions": [_, *_]}) as listed:
            column, values = listed.this.unnest(), listed.expressions
        case _:
            return None
    strings = [string_of(value) for value in values]
    known = frozenset(value for value in strings if value is not None)
    if not isinstance(column, exp.Column) or len(known) < len({*strings}):
        return None
    return Among(column.name, known)


SIGNS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}
TIMES = (TIMESTAMP, TIMESTAMP_LTZ)


def bounds_of(lowered: exp.Expr, types: dict[str, SqlType], span: Span) -> tuple[Bound, ...]:
    """The bounds that a condition states, if it only compares a column with times that read no column; else none."""
    return tuple(_bounds(lowered.unnest(), types, span))


def _bounds(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> Iterator[Bound]:
    for column, sign, end in _comparisons(tree):
        kind = types.get(column.name, UNKNOWN) if isinstance(column, exp.Column) else UNKNOWN
        time = _time(end, kind) if kind in TIMES else None
        if time is not None:
            yield Bound(column.name, sign, Scalar(with_holes(time, span), kind, not isinstance(time, exp.Binary)))


def _comparisons(tree: exp.Expr) -> list[tuple[exp.Expr, str, exp.Expr]]:
    match tree:
        case exp.Between(args={"this": this, "low": low, "high": high}) if not tree.args.get("symmetric"):
            return [(this.unnest(), ">=", low), (this.unnest(), "<=", high)]
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ():
            left, right, sign = tree.left.unnest(), tree.right.unnest(), SIGNS[type(tree)]
            return [(left, sign, right)] if isinstance(left, exp.Column) else [(right, FLIPPED[sign], left)]
    return []


def _time(tree: exp.Expr, wanted: SqlType) -> exp.Expr | None:
    """A time of the wanted type that reads no column; None for others."""
    tree = tree.unnest()
    if isinstance(tree, exp.Literal):
        return _wall_clock(tree) if wanted == TIMESTAMP and _is_time(tree) else None
    if tree.find(exp.Column, exp.Query, exp.AggFunc) or [*users_in(tree)]:
        return None
    if isinstance(tree, exp.Cast) and isinstance(tree.this, exp.Literal) and not _is_time(tree.this):
        return None
    kind = infer(tree, {})
    if kind == DATE and wanted == TIMESTAMP:
        return _wall_clock(tree)
    return tree if kind == wanted else None


def _wall_clock(tree: exp.Expr) -> exp.Expr:
    return exp.cast(tree.copy(), "timestamp_ntz", dialect="spark")


def _is_time(literal: exp.Literal) -> bool:
    """Whether a literal is a string that surely is a time."""
    try:
        return literal.is_string and bool(datetime.fromisoformat(literal.name))
    except ValueError:
        return False


# Times that rise with a column, from the tree as written.


FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999  # ms since 1970 that TO_TIMESTAMP_LTZ takes; NULL for others
FIXED = ("SECOND", "MINUTE", "HOUR")  # units of intervals that are as long on every day
IN_ORDER = ("yyyy", "yyyy-MM", "yyyyMM", "yyyy-MM-dd", "yyyyMMdd", "yyyy-MM-dd HH", "yyyyMMddHH", "yyyy-MM-dd-HH")
INSTANT_OF = (
    "TO_UTC_TIMESTAMP(TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', {{end}})), '{}')"
)
CLOCK_OF = (
    "TIMESTAMPADD(MICROSECOND, UNIX_MICROS(FROM_UTC_TIMESTAMP({{end}}, '{}')), TIMESTAMP_NTZ '1970-01-01 00:00:00')"
)


def rising_of(tree: exp.Expr, types: dict[str, SqlType]) -> Rising | None:
    """How an expression rises with its only column; None if that is not known."""
    if isinstance(tree, exp.Column) or len([*tree.find_all(exp.Column)]) != 1:
        return None
    found = _rising(tree, types)
    return found[0] if found else None


def _rising(tree: exp.Expr, types: dict[str, SqlType]) -> tuple[Rising, SqlType] | None:
    tree = tree.unnest()
    if isinstance(tree, exp.Column):
        return Rising(tree.name), types.get(tree.name, UNKNOWN)
    match tree:
        case exp.Cast():
            inner, kind = _rising(tree.this, types), infer(tree, types)
            of_cast = _of_cast(inner[1], kind) if inner else None
        case exp.Add(expression=exp.Interval() as length) | exp.Sub(expression=exp.Interval() as length):
            value = tree.this
            inner, kind = _rising(value, types), infer(value, types)
            of_cast = _moved("-" if isinstance(tree, exp.Add) else "+", length, kind) if inner else None
        case exp.Anonymous(this=str(name), expressions=[value, exp.Literal() as given]):
            inner = _rising(value, types)
            kind = {"TO_TIMESTAMP_LTZ": TIMESTAMP_LTZ, "DATE_FORMAT": STRING}.get(name.upper(), UNKNOWN)
            of_cast = _of_call(name.upper(), value, given, inner[1]) if inner else None
        case _:
            return None
    return (of_cast.over(inner[0]), kind) if inner and of_cast else None


def _of_cast(source: SqlType, target: SqlType) -> Rising | None:
    """A cast of a time, whose column has no name here."""
    if source == target and source in TIMES:
        return Rising("", "{end}", "{end} + INTERVAL '1' SECOND")  # it may cut digits
    if (source, target) == (DATE, TIMESTAMP):
        return Rising("", "CAST({end} AS DATE)", "CAST({end} AS DATE)")
    if (source, target) == (TIMESTAMP, DATE):
        return Rising("", "CAST({end} AS TIMESTAMP_NTZ)", "CAST({end} AS TIMESTAMP_NTZ) + INTERVAL '1' DAY")
    if (source, target) in (TIMES, TIMES[::-1]):
        zone = local_zone()
        end = (CLOCK_OF if source == TIMESTAMP else INSTANT_OF).format(zone)
        margin = int(largest_change(zone).total_seconds()) + 1
        return Rising("", f"{end} - INTERVAL '{margin}' SECOND", f"{end} + INTERVAL '{margin}' SECOND", exact=False)
    return None


def _moved(back: str, length: exp.Interval, kind: SqlType) -> Rising | None:
    """A time plus or minus an interval."""
    unit, count = str(length.unit).upper(), length.this
    known = kind in TIMES and (unit in FIXED or (unit == "DAY" and kind == TIMESTAMP))
    if not known or not isinstance(count, exp.Literal) or not count.name.isdigit():
        return None
    end = f"{{end}} {back} INTERVAL '{count.name}' {unit}"
    return Rising("", end, end)


def _of_call(name: str, value: exp.Expr, given: exp.Literal, kind: SqlType) -> Rising | None:
    if name == "DATE_FORMAT" and kind == TIMESTAMP and given.is_string and given.name in IN_ORDER:
        return Rising("", "", "")
    if name == "TO_TIMESTAMP_LTZ" and kind in (BIGINT, INT) and given.name in "03" and isinstance(value, exp.Column):
        unit, end = (1, "UNIX_MILLIS({end})") if given.name == "3" else (1000, "UNIX_SECONDS({end})")
        return Rising("", end, end, f"{{column}} < {FIRST // unit}", f"{{column}} > {LAST // unit}")
    return None
