"""What tvfsql takes and Flink does not, as far as types tell: `tvfsql lint` says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sqlglot import exp

from tvfsql.bind.flink.operators.cast_pairs import is_beyond
from tvfsql.errors import Span
from tvfsql.plan.values.types import DATE, NULL, STRING, TIMESTAMP, TIMESTAMP_LTZ, UNKNOWN, SqlType, is_number
from tvfsql.syntax.places import span_of
from tvfsql.syntax.types.trees import sql_type

TypeOf = Callable[[exp.Expr], SqlType]
DAYS_AND_TIMES = (DATE, TIMESTAMP_LTZ, TIMESTAMP)
NOWHERE = Span(-1, -1)

Notes = dict[tuple[Span, str], str | None]  # places and messages, with what to write instead
_NOTES: ContextVar[Notes | None] = ContextVar("what Flink does not take", default=None)


@contextmanager
def noting() -> Iterator[Notes]:
    """Collect what statements that are bound inside have that Flink does not take. NOWHERE: the place is not known."""
    notes: Notes = {}
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def note(node: exp.Expr, type_of: TypeOf) -> bool:
    """Note an expression that Flink rejects because of the types of its operands. Whether it is such a one."""
    notes = _NOTES.get()
    if notes is None:
        return False
    match node:
        case exp.Cast() if is_beyond(type_of(node.this), sql_type(node.to)):
            what = f"a CAST of {type_of(node.this).flink} to {sql_type(node.to).flink}"
            hint = "UNIX_TIMESTAMP(CAST(t AS STRING)), or EXTRACT(HOUR FROM t)"
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod() if _with_text(node, type_of):
            what, hint = "arithmetic with a STRING", "CAST(s AS INT)"
        case exp.Add() | exp.Sub() if _days_without_a_unit(node, type_of):
            what, hint = "a number or a time beside + or - of a time", "INTERVAL '1' DAY, or TIMESTAMPDIFF(DAY, a, b)"
        case exp.DPipe() if any(_is_other(side, type_of) for side in (node.left, node.right)):
            what, hint = "|| of a value that is not a STRING", "CAST(x AS STRING)"
        case exp.Like() if is_number(type_of(node.this)):
            what, hint = "LIKE of a number", "CAST(x AS STRING) LIKE '...'"
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() if _with_text(node, type_of):
            what, hint = "a comparison of a STRING with a number", "CAST(s AS INT), or a number without quotes"
        case _:
            return False
    notes[span_of(node, NOWHERE), f"Flink does not take {what}"] = hint
    return True


def note_argument(function: str, argument: exp.Expr, kind: SqlType, wanted: str) -> None:
    """Note an argument of a function of Flink that Flink rejects. `wanted` are the types that it takes."""
    notes = _NOTES.get()
    if notes is not None:
        what = f"Flink does not take {function} of {kind.flink}"
        notes[span_of(argument, NOWHERE), what] = f"CAST(x AS {wanted.partition(' or ')[0]})"


def note_operand(operand: exp.Expr, what: str, hint: str | None) -> None:
    """Note an operand that Flink rejects."""
    notes = _NOTES.get()
    if notes is not None:
        notes[span_of(operand, NOWHERE), f"Flink does not take {what}"] = hint


def note_clause(clause: str, place: Span) -> None:
    """Note a part of the language that Flink lacks."""
    notes = _NOTES.get()
    if notes is not None:
        notes[place, f"Flink has no {clause}"] = "leave it out"


def _with_text(node: exp.Binary, type_of: TypeOf) -> bool:
    """Whether one side is a text and the other a number."""
    kinds = [type_of(node.left), type_of(node.right)]
    return STRING in kinds and any(map(is_number, kinds))


def _days_without_a_unit(node: exp.Binary, type_of: TypeOf) -> bool:
    """Whether a number is added to a time, or one time is subtracted from another."""
    one, other = type_of(node.left), type_of(node.right)
    return one in DAYS_AND_TIMES and (is_number(other) or other in DAYS_AND_TIMES)


def _is_other(side: exp.Expr, type_of: TypeOf) -> bool:
    kind = type_of(side)
    return kind not in (UNKNOWN, NULL, STRING)
