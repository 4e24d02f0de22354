"""Texts with holes: what is in a hole keeps its type, whatever its name looks like."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.bind.scalar import to_scalar
from tvfsql.errors import Span
from tvfsql.plan.values.scalar import PROCTIME, Ref


def test_a_column_whose_name_looks_like_a_hole_stays_a_column() -> None:
    names = ("\x000\x00", "\x011\x02", "\x04")
    columns = [exp.Column(this=exp.to_identifier(name, quoted=True)) for name in names]
    made = to_scalar(exp.func("concat", *columns), {}, Span(0, 0))
    assert [part.name for part in made.parts if isinstance(part, Ref)] == [*names]
    assert made.parts[0] == "CONCAT("


def test_proctime_is_a_part_of_its_own() -> None:
    assert to_scalar(exp.Anonymous(this="PROCTIME"), {}, Span(0, 0)) == PROCTIME
