"""The facts of an expression, from its tree: before Flink's functions are lowered, and after."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made
from tvfsql.bind.spark_text.functions import function_name, is_proctime
from tvfsql.bind.user_function_calls import user_of, users_in
from tvfsql.plan.values.facts import Facts
from tvfsql.plan.values.templates import SAFE, fails
from tvfsql.plan.values.types import STRING, SqlType

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
