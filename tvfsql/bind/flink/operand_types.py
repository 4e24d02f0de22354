"""The types that operators, and calls with keywords, take (tests/data/flink_argument_types.json). What Flink does not
take is refused, or noted for `tvfsql lint` where only one conversion is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from tvfsql.bind.flink.beyond import note_operand
from tvfsql.bind.flink.functions.arguments import family_of, in_words
from tvfsql.bind.flink.operators.comparisons import refuse_dates_and_times, refuse_mixed, refuse_mixed_branches
from tvfsql.errors import BindError
from tvfsql.plan.values.types import (
    INTERVAL_MONTHS,
    INTERVAL_SECONDS,
    STRING,
    Array,
    Interval,
    Map,
    SqlType,
    is_number,
)

TypeOf = Callable[[exp.Expr], SqlType]
NUMBERS = "i l d p"
MOMENTS = "dt tm ts tz"

SYMBOLS = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
OF_INTERVALS = {
    INTERVAL_MONTHS.root: ("YEAR", "MONTH"),
    INTERVAL_SECONDS.root: ("DAY", "HOUR", "MINUTE", "SECOND"),
}
OF_DAYS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY", "EPOCH", "CENTURY", "DECADE", "MILLENNIUM")


class Operand(NamedTuple):
    """`what` names its place in messages. Flink takes values of the families `takes`, tvfsql also those of `more`."""

    what: str
    value: exp.Expr | None
    takes: str
    more: str = ""


def check_operands(node: exp.Expr, type_of: TypeOf, noted: bool) -> None:
    """Raise BindError for an operand of a type that neither Flink takes nor one conversion makes right; note one that
    Flink alone refuses, unless the whole expression is `noted`.
    """
    for what, value, takes, more in _operands(node, type_of):
        family = None if value is None else family_of(type_of(value))
        if value is None or family is None or family in takes.split():
            continue
        kind = type_of(value).flink
        if family not in more.split():
            raise BindError(
                f"{what} takes {_article(in_words(takes))}, not {_article(kind)}", hint=_instead(takes, family)
            )
        if not noted:
            note_operand(value, f"{what} of {_article(kind)}", _instead(takes, family))
    match node:
        case exp.Case():
            branches = [branch.args["true"] for branch in node.args["ifs"]]
            refuse_mixed_branches([*branches, *filter(None, [node.args.get("default")])], type_of)
        case exp.If() if not isinstance(node.parent, exp.Case) and node.args.get("false") is not None:
            refuse_mixed("IF", [node.args["true"], node.args["false"]], type_of)
            refuse_dates_and_times("IF", [node.args["true"], node.args["false"]], type_of)


def _operands(node: exp.Expr, type_of: TypeOf) -> Iterator[Operand]:
    match node:
        case exp.Neg():
            yield Operand("-", node.this, f"{NUMBERS} iv", "s")
        case exp.Abs():
            yield Operand("ABS", node.this, NUMBERS, "s")
        case exp.Round():
            yield Operand("ROUND", node.this, NUMBERS, "s")
        case exp.Mod():
            for side in (node.left, node.right):
                yield Operand("MOD", side, "i l p", "s d")
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            yield from _of_arithmetic(node, type_of)
        case exp.Like() | exp.ILike():
            yield Operand("LIKE", node.this, "s", f"{NUMBERS} dt")
        case exp.SimilarTo():
            yield Operand("SIMILAR TO", node.this, "s", f"{NUMBERS} dt")
        case exp.Connector():
            for side in (node.left, node.right):
                yield Operand(node.key.upper(), side, "b", "s")
        case exp.Not():
            yield Operand("NOT", node.this, "b", "s")
        case exp.Is() if isinstance(node.expression, exp.Boolean):
            yield Operand(f"IS {node.expression.sql().upper()}", node.this, "b", "s")
        case exp.Filter():
            yield Operand("FILTER (WHERE ...)", node.expression.this, "b", "s")
        case exp.If():
            yield Operand("WHEN" if isinstance(node.parent, exp.Case) else "IF", _condition_of(node), "b")
        case exp.Extract():
            takes = "dt ts tz" if node.name.upper() in OF_DAYS else MOMENTS
            takes = f"{takes} iv" if node.name.upper() in _units(node.expression.unnest(), type_of) else takes
            yield Operand(f"EXTRACT({node.name.upper()} FROM ...)", node.expression, takes)
        case exp.Floor() | exp.Ceil() if unit := node.args.get("to"):
            what = f"{node.key.upper()}(... TO {unit.name.upper()})"
            if isinstance(node.this.unnest(), exp.Null):
                raise BindError(f"{what} takes a {in_words(MOMENTS)}, not a NULL", hint="CAST(NULL AS TIMESTAMP(3))")
            yield Operand(what, node.this, MOMENTS)
        case exp.TimestampAdd():
            yield Operand("TIMESTAMPADD", node.this, MOMENTS)
            yield Operand("the number of TIMESTAMPADD", node.expression, "i l")
        case exp.TimestampDiff():
            sides = [node.this, node.expression]
            of_day = all(family_of(type_of(side)) == "tm" for side in sides)
            for side in sides:
                yield Operand("TIMESTAMPDIFF", side, "tm" if of_day else "dt ts tz")
        case exp.Substring():
            yield Operand("SUBSTRING", node.this, "s", f"{NUMBERS} dt bi")
            for part in ("start", "length"):
                yield Operand(f"the {part} of SUBSTRING", node.args.get(part), "i l")
        case exp.StrPosition():
            for side in (node.this, node.args["substr"]):
                yield Operand("POSITION", side, "s", f"{NUMBERS} dt")
        case exp.Trim():
            for side in (node.this, node.expression):
                yield Operand("TRIM", side, "s", f"{NUMBERS} dt")
        case exp.Overlay():
            yield Operand("OVERLAY", node.this, "s")  # Flink takes bytes, and a text in the place of some of them
        case exp.Bracket():
            yield from _of_element(node, type_of)
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            yield from _of_comparison(node.left, [node.right], type_of, "a comparison", "s b dt tm ts tz")
        case exp.Between():
            bounds = [node.args["low"], node.args["high"]]
            yield from _of_comparison(node.this, bounds, type_of, "BETWEEN", "s i l d p b dt tm ts tz")
        case exp.In() if not node.args.get("query") and not isinstance(node.this, exp.Tuple):
            yield from _of_comparison(node.this, node.expressions, type_of, "IN", "s i l d p b dt tm ts tz")
        case exp.Case() if node.this is not None:
            values = [branch.this for branch in node.args["ifs"]]
            yield from _of_comparison(node.this, values, type_of, "CASE x WHEN", "s b dt tm ts tz")
        case exp.Nullif():
            yield from _of_comparison(node.this, [node.expression], type_of, "NULLIF", "s b dt tm ts tz")


def _units(interval: exp.Expr, type_of: TypeOf) -> Sequence[str]:
    """The units that an interval has; a literal of one unit has only that."""
    if isinstance(interval, exp.Interval) and not isinstance(interval.args.get("unit"), exp.IntervalSpan):
        return (interval.text("unit").upper(),)
    return OF_INTERVALS.get(type_of(interval).root, ())


def _condition_of(node: exp.If) -> exp.Expr | None:
    """The condition of IF, and of a branch of CASE WHEN; None for a value of CASE x WHEN."""
    return None if isinstance(node.parent, exp.Case) and node.parent.this is not None else node.this


def _of_arithmetic(node: exp.Binary, type_of: TypeOf) -> Iterator[Operand]:
    """The sides of + - * /. Times take intervals, and, beyond Flink, DATEs numbers of days; times have a difference."""
    symbol, moves = SYMBOLS[type(node)], isinstance(node, exp.Add | exp.Sub)
    for side, other in ((node.left, node.right), (node.right, node.left)):
        kind = type_of(other)
        if isinstance(type_of(side), Interval) and _has_intervals(node, side, type_of):
            if isinstance(kind, Interval) and kind != type_of(side):
                raise BindError(f"{symbol} takes two intervals of months, or two of days and smaller units")
            continue
        if family_of(type_of(side)) == "tm" and kind == INTERVAL_MONTHS:
            raise BindError(f"{symbol} of a TIME takes no interval of months", hint="INTERVAL '1' HOUR")
        if isinstance(kind, Interval):
            yield Operand(f"{symbol} of an interval", side, MOMENTS if moves else NUMBERS)
        elif moves and (isinstance(node, exp.Sub) or family_of(kind) in (*NUMBERS.split(), None)):
            texts, dates = _with_texts(other, kind), _with_dates(node, side, kind)
            yield Operand(symbol, side, NUMBERS, f"{texts} {dates} ts tz")
        else:
            yield Operand(symbol, side, NUMBERS, _with_texts(other, kind))


def _with_texts(other: exp.Expr, kind: SqlType) -> str:
    """A text becomes a number next to one, which `other` is."""
    return "" if kind == STRING or isinstance(other.unnest(), exp.Null) else "s"


def _with_dates(node: exp.Binary, side: exp.Expr, other: SqlType) -> str:
    """A DATE moves by an INT of days, which is on the right of a minus."""
    of_days = family_of(other) == "i" and not (isinstance(node, exp.Sub) and side is node.right)
    return "dt" if of_days or not is_number(other) else ""


def _has_intervals(node: exp.Binary, side: exp.Expr, type_of: TypeOf) -> bool:
    """Whether the operator takes an interval on this side, next to some type on the other."""
    match node:
        case exp.Add():
            return True
        case exp.Sub():
            return side is node.right or isinstance(type_of(node.right), Interval)
        case exp.Div():
            return side is node.left
    other = node.right if side is node.left else node.left
    return not isinstance(type_of(other), Interval)


def _of_comparison(
    one: exp.Expr, others: Sequence[exp.Expr], type_of: TypeOf, where: str, with_text: str
) -> Iterator[Operand]:
    """Values that are compared: those of one class are, a text with those that `with_text` has, and with bytes."""
    first = family_of(type_of(one))
    for other in others:
        second = family_of(type_of(other))
        if first is None or second is None:
            continue
        for value, family, beside in ((one, first, second), (other, second, first)):
            if beside == "s" and family != "s":
                noted = f"{NUMBERS} bi"
                yield Operand(f"{where} with a STRING", value, with_text, noted)
            elif family == "dt" and beside == "ts":
                yield Operand(f"{where} with a TIMESTAMP", value, "s ts tz", "dt")
            elif where == "NULLIF" and _class(family) != _class(beside) and "s" not in (family, beside):
                takes = NUMBERS if _class(beside) == "number" else beside
                yield Operand("NULLIF", value, takes, "dt ts tz" if beside in MOMENTS.split() else "")


def _class(family: str) -> str:
    return "number" if family in NUMBERS.split() else family


def _of_element(node: exp.Bracket, type_of: TypeOf) -> Iterator[Operand]:
    """The position in an array, or the key of a map."""
    kind, index = type_of(node.this), node.expressions[0]
    if isinstance(kind, Array):
        yield Operand("an ARRAY's []", index, "i", "l")
    elif isinstance(kind, Map):
        key = family_of(kind.key)
        if key is not None:
            yield Operand("a MAP's []", index, key, NUMBERS if key in NUMBERS.split() else "")


def _instead(takes: str, family: str) -> str | None:
    """What to write instead; None where no CAST helps."""
    wanted = takes.split()[0]
    if wanted == "b":
        return {"s": "CAST(x AS BOOLEAN)"}.get(family, "x IS NOT NULL")
    if wanted == "dt":
        return {"s": "CAST(x AS TIMESTAMP(3))", "l": "TO_TIMESTAMP_LTZ(x, 3)"}.get(family)
    if wanted == "i":
        return "CAST(x AS INT)" if _class(family) in ("s", "number") else None
    return "CAST(x AS STRING)" if wanted == "s" else None


def _article(words: str) -> str:
    return f"an {words}" if words[0] in "AI" else f"a {words}"
