"""What operators of streams are told by their plan."""

from __future__ import annotations

from dataclasses import fields

from tvfsql.plan.stream import Firing, StreamContext, StreamOptions


def test_each_field_can_be_written_as_a_keyword_argument() -> None:
    assert [field.name for field in fields(StreamContext)] == [*StreamOptions.__annotations__]


def test_inputs_are_the_same_as_a_list() -> None:
    written = StreamContext(inputs=["1/", "2/"])
    assert written == StreamContext(inputs=("1/", "2/"))
    assert hash(written) == hash(StreamContext(inputs=("1/", "2/")))


def test_windows_that_fire_early_emit_changes_unless_they_purge() -> None:
    assert StreamContext(firing=Firing(early=0)).emits_changes
    assert not StreamContext(firing=Firing(early=0, purge=True)).emits_changes
    assert not StreamContext().emits_changes
