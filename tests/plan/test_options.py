"""Options: each is read once, into a value of its type."""

from __future__ import annotations

import pytest

from tvfsql.errors import OptionError
from tvfsql.options import Options, ignored
from tvfsql.options.known import DISABLED_RULES, IDLE_ADVANCE, KEY_GROUPS, KNOWN, LATENESS, NULL_TIMES, PHASES, ZONE
from tvfsql.options.option import Option
from tvfsql.options.words import NullTimes, Phases
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.time.watermarks import NULL_TIMES as COUNTERS


def test_every_default_is_a_text_that_its_option_takes() -> None:
    for key, option in KNOWN.items():
        again = Options().with_value(key, option.default)
        assert again[option] == Options()[option]
        assert again.text(key) == option.default


@pytest.mark.parametrize(
    ("option", "text", "value", "shown"),
    [
        (PHASES, "one_phase", Phases.ONE, "ONE_PHASE"),
        (NULL_TIMES, " Skip_Watermark ", NullTimes.SKIP_WATERMARK, "SKIP_WATERMARK"),
        (IDLE_ADVANCE, "FALSE", False, "false"),
        (LATENESS, "2 min", 120_000, "2 min"),
        (KEY_GROUPS, "7", 7, "7"),
        (ZONE, "GMT+8", "+08:00", "GMT+8"),
        (DISABLED_RULES, "a, b,,", {"a", "b"}, "a, b,,"),
    ],
)
def test_a_text_becomes_a_value_and_is_shown_in_the_words_of_the_option(
    option: Option[object], text: str, value: object, shown: str
) -> None:
    options = Options.of({option.key: text})
    assert options[option] == value
    assert options.text(option.key) == shown
    assert (option.key, shown) in [*options.listed()]


@pytest.mark.parametrize(
    ("option", "text"), [(PHASES, "three"), (IDLE_ADVANCE, "yes"), (LATENESS, "soon"), (KEY_GROUPS, "0")]
)
def test_an_error_names_the_option_and_the_text_that_it_does_not_take(option: Option[object], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options.of({option.key: text})
    assert option.key in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["PST", "CST", "GMT+25:00", "UTC+8h", "Etc/GMT+25", "GMT+05:3"])
def test_a_zone_that_is_unknown_gets_no_hint_to_one_of_another_offset(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options.of({ZONE.key: text})
    assert caught.value.hint == "a region such as 'Europe/Berlin', or an offset, 'GMT+08:00'"


def test_a_region_that_is_misspelled_gets_a_hint() -> None:
    with pytest.raises(OptionError, match=r"did you mean Europe/Berlin\?"):
        Options.of({ZONE.key: "Europe/Berln"})


def test_what_becomes_of_null_times_has_the_words_that_the_runtime_takes() -> None:
    assert {one.value for one in NullTimes} == {"FAIL", *COUNTERS}


def test_without_an_option_a_stream_has_the_key_groups_that_the_runtime_assumes() -> None:
    assert Options()[KEY_GROUPS] == StreamContext().key_groups


def test_options_of_flink_that_change_no_row_are_kept_and_named() -> None:
    given = {"parallelism.default": "4", "table.exec.mini-batch.enabled": "true", "rest.port": "8081"}
    options = Options.of({**given, "table.exec.sink.not-null-enforcer": "ERROR", "pipeline.name": "bids"})
    assert options.ignored == tuple(given)
    assert {*given.items()} <= {*options.listed()}
    assert options.reset("parallelism.default", Options()).ignored == tuple(given)[1:]


@pytest.mark.parametrize("key", sorted(ignored.SETTLED))
def test_a_value_that_would_change_rows_is_refused_with_what_to_write_instead(key: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options.of({key: "something else"})
    assert caught.value.hint == ignored.SETTLED[key][1]
    assert Options.of({key: ignored.SETTLED[key][0].upper()}).ignored == ()


def test_an_option_has_a_meaning_or_none() -> None:
    assert not ignored.names() & KNOWN.keys()
    assert not [key for key in KNOWN if ignored.is_ignored(key)]
