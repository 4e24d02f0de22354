"""Lowers Flink's SQL expressions to Spark's: each call, cast and operator that Spark computes differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from sqlglot import exp

from tvfsql.bind.flink import find
from tvfsql.bind.flink.beyond import note, note_argument
from tvfsql.bind.flink.function import require_text
from tvfsql.bind.flink.functions.arguments import beyond_flink, refuse_arguments
from tvfsql.bind.flink.functions.collections import WITH_SUBQUERY, type_name
from tvfsql.bind.flink.functions.json import is_json, of_json, raw
from tvfsql.bind.flink.functions.rounding import rounded, truncated
from tvfsql.bind.flink.functions.texts import concatenated, no_longer, overlaid, part_of, unmatched
from tvfsql.bind.flink.keyword_calls import overlaps, similar, unicode_text, with_words
from tvfsql.bind.flink.lowered_call import KIND, Made, made, runtime_call
from tvfsql.bind.flink.operand_types import check_operands
from tvfsql.bind.flink.operators.arithmetic import below_one, computed
from tvfsql.bind.flink.operators.cast_pairs import refuse_cast
from tvfsql.bind.flink.operators.casts import as_texts, cast
from tvfsql.bind.flink.operators.common_type import FUNCTIONS, in_common_type, other_time, unify
from tvfsql.bind.flink.operators.comparisons import (
    as_instants,
    compared,
    exact_floats,
    is_right_side,
    literal_cast,
    null_if_equal,
    of_rows,
    one_of_query,
    one_of_tuples,
    one_of_values,
    refuse_dates_and_times,
    refuse_mixed,
    tuples,
    when_equal,
)
from tvfsql.bind.flink.operators.subscripts import element_of, field_of_row
from tvfsql.bind.flink.over import AGGREGATE, aggregated, without_nulls
from tvfsql.bind.flink.refused_aggregates import require_arguments
from tvfsql.bind.flink.refused_operands import require_types
from tvfsql.bind.flink.time import fields
from tvfsql.bind.flink.time.fields import (
    BUCKETS,
    cast_to_time,
    ceil_to,
    field_of,
    floor_to,
    is_time_of_day,
    months_between,
)
from tvfsql.bind.flink.time.parsers import from_text
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT, in_utc, of_utc, on_clock
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax.calls import Words
from tvfsql.syntax.types.trees import cast_type, sql_type

T = exp.DataType.Type
TypeOf = Callable[[exp.Expr], SqlType]
NESTED = {"array": "ARRAY<INT>", "map": "MAP<STRING, INT>", "collection": "ARRAY<INT>"}  # types of such arguments
CALENDAR = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
MICROS = {"SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6, "DAY": 86_400 * 10**6, "WEEK": 604_800 * 10**6}


def lowered(node: exp.Expr, type_of: TypeOf, zone: str) -> exp.Expr | None:
    """Return the node as Spark must compute it; None if Spark's own result is the same. Its children are already
    lowered.
    """
    new: exp.Expr | None
    require_types(node, type_of)
    require_arguments(node, type_of)
    noted = note(node, type_of)
    check_operands(node, type_of, noted)
    match node:
        case exp.Anonymous() if node.name.upper() == "TRUNCATE" and len(node.expressions) == 2:
            new = truncated(node, type_of)
        case exp.Anonymous() if node.name.upper() == "JSON_STRING" and type_of(node.expressions[0]) == types.VARIANT:
            new = made("TO_JSON({0})", node.expressions, types.STRING)
        case exp.Anonymous() if node.name.upper() == "HASH_CODE" and type_of(node.expressions[0]) == types.STRING:
            return runtime_call("text_hash_code", node.expressions, types.INT)
        case exp.Anonymous() if node.name.upper() == "JSON":
            require_text("JSON", type_of(node.expressions[0]))
            if not isinstance(node.parent, Words):
                raise BindError("JSON(...) can only be a value of JSON_OBJECT or JSON_ARRAY", hint="PARSE_JSON(x)")
            return raw(node.expressions[0])
        case exp.Anonymous() if node.name.upper() == "TYPEOF":
            named = exp.Literal.string(type_name(node.expressions[0], type_of(node.expressions[0])))
            named.meta[KIND] = types.STRING
            return named
        case exp.Anonymous():
            new = _call(node.name.upper(), node.expressions, type_of)
        case exp.Ceil() | exp.Floor() if node.args.get("to"):
            new = _rounded(node, type_of)
        case exp.Ceil() | exp.Floor() if not node.args.get("decimals"):
            new = _call("CEIL" if isinstance(node, exp.Ceil) else "FLOOR", [below_one(node.this)], type_of)
        case exp.Round():
            new = rounded(node, type_of)
        case exp.Grouping():
            return made("CAST({0} AS BIGINT)", [node.copy()], types.BIGINT)
        case exp.Select() if node.parent and isinstance(next(iter(node.expressions), None), exp.Neg):
            first = node.expressions[0]  # Spark reads (SELECT -1) as a column SELECT minus 1
            first.replace(exp.alias_(first.copy(), "EXPR$0", quoted=True))
            return None
        case exp.GroupingId() if node.expressions:  # Spark takes all keys only
            bits = [f"CAST(GROUPING({{{at}}}) AS BIGINT)" for at in range(len(node.expressions))]
            return made(reduce("({} * 2 + {})".format, bits), node.expressions, types.BIGINT)
        case exp.CurrentDate():
            new = _call("CURRENT_DATE", [], type_of)
        case exp.Cast():
            new = _cast(node, type_of)
        case exp.Extract():
            new = _extract(node, type_of)
        case exp.TimestampDiff():
            new = _difference(node, type_of)
        case exp.TimestampAdd():
            new = _sum(node, type_of)
        case exp.Bracket():
            new = element_of(node, type_of)
        case exp.Like() | exp.ILike() if not isinstance(node.parent, exp.Escape):
            return _without_escape(node)
        case exp.FirstValue() | exp.LastValue() | exp.Filter(this=exp.FirstValue() | exp.LastValue()):
            return without_nulls(node)
        case _ if isinstance(node, (*AGGREGATE, exp.Window, exp.Filter)):
            new = aggregated(node, type_of)
        case exp.EQ() | exp.NEQ() if of_rows(node):
            return tuples(node, type_of)
        case exp.In() if node.args.get("query"):
            return one_of_query(node, type_of)
        case exp.In() if isinstance(node.this, exp.Tuple) and node.expressions:
            return one_of_tuples(node, type_of)
        case exp.In() if node.expressions:
            return one_of_values(node, type_of)
        case exp.Is() if isinstance(node.this, exp.Predicate) and not is_right_side(node):
            node.set("this", exp.Paren(this=node.this))  # Spark cannot read x IS NULL IS FALSE
            return None
        case exp.Between():
            exact_floats(node, ("this", "low", "high"), type_of)
            as_instants([node.this, node.args["low"], node.args["high"]], type_of)
            return None
        case exp.Coalesce():
            refuse_dates_and_times("COALESCE", [node.this, *node.expressions], type_of)
            refuse_mixed("COALESCE", [node.this, *node.expressions], type_of)
            unify([node.this, *node.expressions], type_of, "COALESCE")
            return None
        case exp.Array():
            unify(node.expressions, type_of)
            return None
        case exp.If() if not isinstance(node.parent, exp.Case):
            unify([node.args["true"], *filter(None, [node.args.get("false")])], type_of)
            return None
        case exp.Nullif():
            return null_if_equal(node, type_of)
        case exp.Case():
            if node.this is not None:
                when_equal(node, type_of)
            else:
                for branch in node.args["ifs"]:
                    if isinstance(branch.this.unnest(), exp.Null):  # Spark takes no NULL without a type there
                        branch.set("this", exp.cast(exp.Null(), "boolean"))
            values = [branch.args["true"] for branch in node.args["ifs"]]
            unify([*values, *filter(None, [node.args.get("default")])], type_of)
            return None
        case exp.Literal() if not node.is_string and node.name.endswith("."):
            return exp.Literal.number(node.name.removesuffix("."))
        case exp.Substring():
            new = _part(node, type_of)
        case exp.Overlay():
            new = _overlaid(node, type_of)
        case exp.DPipe() | exp.Concat() | exp.ConcatWs():
            as_texts([*node.iter_expressions()], type_of)
            _fill_zone(node.iter_expressions(), zone)
            return None
        case exp.Dot():
            field_of_row(
                type_of(node.this),
                node.expression.name,
                node.this.sql(dialect="spark", identify=False).replace("`", ""),
            )
            return None
        case exp.StrPosition() if node.args.get("position"):
            new = _call("LOCATE", [node.args["substr"], node.this, node.args["position"]], type_of)
        case exp.Add() | exp.Sub() if is_time_of_day(type_of(node.left)):
            new = fields.moved(node, type_of(node.left))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            new = computed(node, type_of)
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            new = compared(node, type_of)
        case Words():
            new = of_json(node, type_of) if node.name.startswith("JSON") else with_words(node, type_of)
        case exp.Is() if isinstance(node.expression, exp.JSON):
            new = is_json(node, type_of)
        case exp.Escape() if isinstance(node.this, exp.SimilarTo):
            new = similar(node.this, node.expression)
        case exp.SimilarTo() if not isinstance(node.parent, exp.Escape):
            new = similar(node, None)
        case exp.Overlaps():
            new = overlaps(node, type_of)
        case exp.Interval() if node.text("unit").upper() in ("QUARTER", "QUARTERS"):
            return _quarters(node)
        case exp.UnicodeString():
            return unicode_text(node)
        case exp.National():
            return exp.Literal.string(node.name)
        case _:
            return None
    _fill_zone((new, *node.args.values()), zone)
    return new


def _fill_zone(parts: Iterable[Any], zone: str) -> None:
    """Put the zone of the session into calls that depend on it."""
    for part in parts:
        if isinstance(part, Made):
            part.set("this", part.template.replace("{zone}", "'" + zone.replace("'", "''") + "'"))


def _call(name: str, arguments: list[exp.Expr], type_of: TypeOf) -> exp.Expr | None:
    function = find(name, len(arguments))
    if function is None:
        return None
    kinds = [type_of(argument) for argument in arguments]
    if name == "ELT" and len(kinds) == 1:
        raise BindError("ELT needs a position and at least one value", hint=function.call)
    if function.arguments[:1] == ("seed",) and arguments[0].find(exp.Column):
        raise BindError(f"the seed of {name} must be a number, and not a column", hint=f"{name}(1)")
    for argument, tree in zip(function.arguments, arguments, strict=False):
        kind = NESTED.get(function.arguments[0] if argument == "other" else argument)
        if kind is not None and isinstance(tree.unnest(), exp.Null):
            raise BindError(f"{name} takes no NULL without a type", hint=f"CAST(NULL AS {kind})")
    refuse_arguments(function, kinds)
    for at, wanted in beyond_flink(function, kinds):
        note_argument(name, arguments[at], kinds[at], wanted)
    if function.arguments[:2] == ("array", "element"):
        element = types.element_type(kinds[0])
        if {element, kinds[1]} == {CLOCK, INSTANT}:
            arguments = [arguments[0], made(other_time("{0}", element), [arguments[1]], element)]
    if read := from_text(name, arguments, kinds):
        return read
    if function.runtime:
        if function.arguments[0] in ("string", "address"):
            require_text(name, kinds[0])
        return runtime_call(function.runtime, arguments, function.type(kinds))
    if name in FUNCTIONS:
        refuse_dates_and_times(name, arguments, type_of)
        refuse_mixed(name, arguments, type_of)
        arguments = in_common_type(arguments, type_of, name)
    with_literals = [_argument(argument, type_of) for argument in arguments]
    if name.startswith("REGEXP") and (nothing := unmatched(name, with_literals)):
        return made(nothing, arguments, function.type(kinds))
    of_subquery = WITH_SUBQUERY.get(name) if any(each.find(exp.Subquery) for each in arguments[1:]) else None
    template = of_subquery(*with_literals) if of_subquery else function.template(with_literals)
    if template is None:
        return None
    return made(template, arguments, function.type(with_literals))


def _argument(tree: exp.Expr, type_of: TypeOf) -> SqlType:
    if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal):
        return replace(type_of(tree), literal=f"-{tree.this.name}")
    return replace(type_of(tree), literal=tree.name if isinstance(tree, exp.Literal) else None)


def _without_escape(node: exp.Expr) -> exp.Expr | None:
    """LIKE: a backslash is an ordinary character, unless ESCAPE says otherwise."""
    pattern = node.expression
    if isinstance(pattern, exp.SubqueryPredicate | exp.Tuple):  # LIKE ANY (...), which only Spark has
        return None
    if not isinstance(pattern, exp.Literal):
        doubled = made(r"REPLACE({0}, '\\', '\\\\')", [pattern.copy()], types.STRING)
        return type(node)(this=node.this.copy(), expression=doubled)
    if "\\" not in pattern.name:
        return None
    unused = next(char for char in "!#~^|@" if char not in pattern.name)
    return exp.Escape(this=node.copy(), expression=exp.Literal.string(unused))


def _quarters(node: exp.Interval) -> exp.Expr | None:
    """INTERVAL '1' QUARTER and INTERVAL -'1' QUARTER, which Spark lacks. None if the number is not a literal."""
    sign, number = (-1, node.this.this) if isinstance(node.this, exp.Neg) else (1, node.this)
    if not isinstance(number, exp.Literal):
        return None
    months = sign * 3 * int(number.name.replace(" ", ""))
    return exp.Interval(this=exp.Literal.string(str(months)), unit=exp.var("MONTH"))


def _part(node: exp.Substring, type_of: TypeOf) -> Made | None:
    start, length = node.args.get("start"), node.args.get("length")
    if start is None:
        return None
    template = part_of(
        _argument(start, lambda _: types.UNKNOWN), _argument(length, lambda _: types.UNKNOWN) if length else None
    )
    kind = no_longer(type_of(node.this))
    return None if template is None else made(template, [node.this, start, *([length] if length else [])], kind)


def _overlaid(node: exp.Overlay, type_of: TypeOf) -> Made:
    length = node.args.get("for_")
    parts = [node.this, node.expression, node.args["from_"]]
    kind = no_longer(concatenated(type_of(node.this), type_of(node.expression)))
    if length is None:
        return made(overlaid("CHAR_LENGTH({1})"), parts, kind)
    return made(overlaid("{3}"), [*parts, length], kind)


def _cast(node: exp.Cast, type_of: TypeOf) -> Made | None:
    to, kind, source = node.to, sql_type(node.to), type_of(node.this)
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    refuse_cast(source, kind, word, node.this.name if isinstance(node.this, exp.Column) else "x")
    if to.this == T.TIME:
        return cast_to_time(node, source, kind)
    if isinstance(source, types.Time) and types.is_time(kind):
        node.set("this", fields.on_first_day(node.this))
        source = CLOCK
    if to.this == T.DATE and isinstance(node.this, exp.Literal) and len(node.this.name) > len("1234-5"):
        return None
    if any(types.is_time(part) and part.digits > 6 for part in kind.walk()):
        raise UnsupportedError("times have at most 6 fractional digits", hint="TIMESTAMP(6)")
    if kind == types.STRING and source == types.DOUBLE and node.find(exp.Column) is None:
        node.set("this", exp.Add(this=exp.paren(node.this.copy()), expression=exp.Literal.number("0")))  # no -0.0
    if kind == types.DOUBLE and source == types.FLOAT and literal_cast(node.this.unnest()) is not None:
        return made("CAST(CAST({0} AS STRING) AS DOUBLE)", [node.this], types.DOUBLE)  # the digits of the literal
    template = cast(source, kind, attempt=isinstance(node, exp.TryCast))
    return None if template is None else made(template, [node.this], cast_type(node))


def _rounded(node: exp.Ceil | exp.Floor, type_of: TypeOf) -> Made | None:
    unit = node.args["to"].name.upper()
    kind = type_of(node.this)
    if is_time_of_day(kind):
        return fields.rounded(unit, node.this, kind, up=isinstance(node, exp.Ceil))
    if unit not in BUCKETS:
        return None
    template = on_clock(floor_to(unit) if isinstance(node, exp.Floor) else ceil_to(unit), back=True)(kind)
    if template is None:
        return None
    if kind == types.DATE:
        template = f"CAST({template} AS DATE)"
        if isinstance(node, exp.Ceil) and unit == "DAY":
            template = "DATE_ADD({0}, 1)"  # Flink's next day, not its own
    return made(template, [node.this], kind)


def _extract(node: exp.Extract, type_of: TypeOf) -> Made | None:
    unit, of = node.name.upper(), node.expression
    kind = type_of(of)
    if isinstance(kind, types.Interval):
        return made(f"CAST(EXTRACT({unit} FROM {{0}}) AS BIGINT)", [of], types.BIGINT)
    field = field_of(unit)
    template = field(kind) if field else None
    return None if template is None else made(template, [of], types.BIGINT)


def _unit(node: exp.Expr) -> str:
    """The unit of TIMESTAMPADD and TIMESTAMPDIFF."""
    return node.text("unit").upper().removeprefix("SQL_TSI_")


def _difference(node: exp.TimestampDiff, type_of: TypeOf) -> Made | None:
    unit, start, end = _unit(node), node.expression, node.this
    kinds = [type_of(start), type_of(end)]
    if INSTANT in kinds and {*kinds} & {CLOCK, types.DATE}:
        raise BindError(
            f"TIMESTAMPDIFF cannot mix {kinds[0].flink} and {kinds[1].flink}", hint="CAST(x AS TIMESTAMP_LTZ(3))"
        )
    if all(map(is_time_of_day, kinds)):
        return fields.between(unit, start, end)
    if unit in MICROS and kinds == [INSTANT, INSTANT]:  # Spark compares clocks in its session's zone
        return made(
            f"CAST((UNIX_MICROS({{1}}) - UNIX_MICROS({{0}})) DIV {MICROS[unit]} AS INT)", [start, end], types.INT
        )
    if unit not in CALENDAR:
        return made(f"CAST(TIMESTAMPDIFF({unit}, {{0}}, {{1}}) AS INT)", [start, end], types.INT)
    clocks = [in_utc("{0}")] * 2 if kinds == [INSTANT, INSTANT] else [on_clock("{0}")(kind) for kind in kinds]
    if None in clocks:
        return None
    months = months_between(str(clocks[0]), str(clocks[1]).replace("{0}", "{1}"))
    return made(f"CAST({months} DIV {CALENDAR[unit]} AS INT)", [start, end], types.INT)


def _sum(node: exp.TimestampAdd, type_of: TypeOf) -> Made | None:
    unit, amount, to = _unit(node), node.expression, node.this
    kind = type_of(to)
    if is_time_of_day(kind):
        return fields.added(unit, amount, to, kind)
    if unit != node.text("unit").upper():
        node.set("unit", exp.var(unit))
    if kind == INSTANT and unit in ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"):
        moved = f"TIMESTAMPADD({unit}, {{0}}, {in_utc('{1}')})"
        return made(of_utc(moved), [amount, to], INSTANT)
    if kind == types.DATE and unit in ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"):
        return made(
            f"CAST(TIMESTAMPADD({unit}, {{0}}, CAST({{1}} AS TIMESTAMP_NTZ)) AS DATE)", [amount, to], types.DATE
        )
    if kind == types.DATE:
        return made(f"TIMESTAMPADD({unit}, {{0}}, CAST({{1}} AS TIMESTAMP_NTZ))", [amount, to], types.Timestamp(6))
    return None
