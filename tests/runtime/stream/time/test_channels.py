"""The watermark of several channels, and watermarks that count from the next row on."""

from __future__ import annotations

import pytest

from tests.models.streams import (
    Event,
    Operator,
    counts,
)
from tvfsql.plan.window import Tumble
from tvfsql.runtime.stream.time.valve import IDLE, Valve


def test_the_watermark_is_the_smallest_of_the_channels_that_are_not_idle() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 10, 5000, channel="0")) == [(0, 1000, 1)]  # channel 1 never had a row
    assert counts(operator, Event("a", 6000, 1500, channel="1"), Event("a", 6100, 9000, channel="0")) == []
    assert counts(operator, Event("a", 7000, 8999, channel="1")) == [(6000, 7000, 2), (7000, 8000, 1)]
    assert counts(operator, Event("a", 9500, 12_000, channel="0")) == []  # waits for channel 1
    assert counts(operator, Event(None, None, IDLE, channel="1")) == [(9000, 10_000, 1)]
    assert counts(operator, Event("a", 12_500, 10_000, channel="1"), Event("a", 12_600, 13_000, channel="0")) == [
        (12_000, 13_000, 2)
    ]  # channel 1 is behind, and does not count until it has caught up
    assert counts(operator, Event("a", 13_000, 13_500, channel="1"), Event("a", 13_400, 14_500, channel="0")) == []
    assert counts(operator, Event(None, None, IDLE)) == []  # all are idle: the watermark stays
    assert counts(operator, Event(None, None, 13_999, channel=None)) == [(13_000, 14_000, 2)]
    assert operator.late == 0


def test_a_channel_without_a_watermark_holds_the_others_up() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 10, 5000, channel="0"), Event("a", 20, None, channel="1")) == []
    assert counts(operator, Event("a", 30, 999, channel="1")) == [(0, 1000, 3)]


def test_on_event_a_later_row_of_the_same_micro_batch_is_late() -> None:
    operator = Operator(Tumble(1000), on_event=True)
    rows = [Event("a", 10), Event("a", 1500, 1500), Event("a", 20), Event("b", 2100, 2100), Event("b", 1999)]
    assert counts(operator, *rows) == [(0, 1000, 1), (1000, 2000, 1)]
    assert operator.late == 2


@pytest.mark.parametrize(
    ("inputs", "now", "channels"),
    [
        ([""], ["1/", "2/"], {"0": "1/0", "1": "1/1", "*": "1/*"}),
        ([""], ["1/", "2/"], {"": "1/"}),
        ([""], ["1/1/", "1/2/", "2/"], {"": "1/1/"}),
        (["1/", "2/"], ["1/1/", "1/2/", "2/"], {"1/0": "1/1/0", "1/*": "1/1/*", "2/": "2/"}),
        (["1/", "2/"], ["1/", "2/", "3/"], {"1/": "1/", "2/7": "2/7"}),
        (["1/1/", "1/2/", "2/"], ["1/1/", "1/2/", "2/", "3/"], {"1/2/": "1/2/", "2/a-0": "2/a-0"}),
    ],
)
def test_channels_keep_their_input_when_others_are_added(
    inputs: list[str], now: list[str], channels: dict[str, str]
) -> None:
    """The watermark stays until the added inputs have one, and never goes back."""
    before = Valve(inputs=inputs)
    before.advance((name, 1000 + i) for i, name in enumerate([*channels, *inputs]))
    after = Valve.load(before.watermark, before.dump(), now)
    assert {name: after.channels[name].watermark for name in channels.values() if not name.endswith("*")} == {
        name: before.channels[old].watermark for old, name in channels.items() if not name.endswith("*")
    }
    assert after.floors == {f"{channels[f'{name}*']}".removesuffix("*"): at for name, at in before.floors.items()}
    assert after.dump() == Valve.load(before.watermark, after.dump(), now).dump()
    assert after.settle() == before.watermark
    later = [(name, 5000) for name in (*channels.values(), *now)]
    added = [name for name in now if not any(known.startswith(name) for known in channels.values())]
    assert after.advance(one for one in later if one[0] not in added) == before.watermark or not added
    assert after.advance((name, 10) for name in added) == before.watermark or not added
    assert after.advance((name, 4000) for name in added) == (4000 if added else 5000)
