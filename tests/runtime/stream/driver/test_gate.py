"""When the gate of a query opens, with a query, its clock and its sources made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver import gate
from tvfsql.runtime.stream.driver.gate import LONGEST_REST, REST, Paced
from tvfsql.runtime.stream.driver.pace import Pace
from tvfsql.runtime.stream.time.control_channel import trigger

TOPIC = "KafkaV2[Subscribe[t]]"


@dataclass
class FakeGate:
    limited: bool = False
    is_running: bool = False
    last_report: str = ""
    opened: int = 0

    def open(self) -> None:
        self.opened += 1

    def has_limits(self) -> bool:
        return self.limited


@dataclass
class Clock:
    """`time` for the gate, in seconds."""

    now: float = 1000.0
    epoch: float = field(default=1_700_000_000.0)

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int((self.epoch + self.now) * 1e9)

    def text(self) -> str:
        return datetime.fromtimestamp(self.epoch + self.now, UTC).isoformat()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(gate, "time", made)
    return made


def paced(usual: int = 500, **options: Any) -> tuple[Paced, FakeGate]:
    nothing: Any = None
    made, fake = Paced(nothing, nothing, Pace(usual, 2_000)), FakeGate(**options)
    told: Any = fake
    made.gate = told
    return made, fake


def micro_batch(made: Paced, fake: FakeGate, clock: Clock, **source: Any) -> None:
    """A micro-batch of 0.1 s."""
    progress = {"timestamp": clock.text(), "sources": [{"numInputRows": 1, **source}]}
    clock.now += 0.1
    fake.last_report = progress["timestamp"]
    assert made.step()
    made.micro_batch(progress, {})


def test_the_gate_opens_when_the_pace_says(clock: Clock) -> None:
    made, fake = paced()
    micro_batch(made, fake, clock)
    assert made.wait(10) == pytest.approx(0.4)
    clock.now += 0.39
    assert not made.step() and fake.opened == 0
    clock.now += 0.02
    assert not made.step() and fake.opened == 1


@pytest.mark.parametrize(
    ("usual", "rests"),
    [
        (500, [REST, 2 * REST, 4 * REST, LONGEST_REST, LONGEST_REST]),
        (10_000, [REST, 2 * REST, 4 * REST, LONGEST_REST, LONGEST_REST]),
        (200, [REST, 2 * REST, 2 * REST]),
        (10, [REST, REST]),
    ],
)
def test_without_rows_it_opens_less_and_less_often_until_some_come(
    usual: int, rests: list[float], clock: Clock
) -> None:
    made, fake = paced(usual)

    def rested() -> float:
        """How long it stays closed after a look that found nothing."""
        opened = fake.opened
        made.step()
        at = clock.now
        while fake.opened == opened:
            clock.now += made.wait(10)
            made.step()
        return clock.now - at

    assert [rested() for _ in rests] == pytest.approx(rests, abs=0.01)
    micro_batch(made, fake, clock)
    while not made.opened:
        clock.now += made.wait(10)
        made.step()
    assert rested() == pytest.approx(REST, abs=0.01)


def test_after_a_micro_batch_without_rows_it_opens_soon(clock: Clock) -> None:
    made, fake = paced()
    micro_batch(made, fake, clock, numInputRows=0)
    assert made.wait(10) == pytest.approx(REST)
    clock.now += REST
    assert not made.step() and fake.opened == 1


def test_it_stays_closed_while_a_micro_batch_runs_unless_that_takes_long(clock: Clock) -> None:
    made, fake = paced(is_running=True)
    clock.now += 0.3
    made.step()
    assert fake.opened == 0
    clock.now += 0.3
    made.step()
    assert fake.opened == 1


@pytest.mark.parametrize(
    ("limited", "source", "at_once"),
    [
        (False, {}, False),
        (True, {}, True),
        (True, {"description": TOPIC, "endOffset": '{"t":{"0":5}}', "latestOffset": '{"t":{"0":5}}'}, False),
        (True, {"description": TOPIC, "endOffset": '{"t":{"0":5}}', "latestOffset": '{"t":{"0":9}}'}, True),
    ],
)
def test_rows_that_a_limit_has_left_do_not_wait(
    limited: bool, source: dict[str, str], at_once: bool, clock: Clock
) -> None:
    made, fake = paced(limited=limited)
    micro_batch(made, fake, clock, **source)
    assert (fake.opened == 1) == at_once


def test_a_message_opens_it(clock: Clock, tmp_path: Any) -> None:
    made, fake = paced()
    control = LocalPlace(tmp_path)
    micro_batch(made, fake, clock)
    made.look_for_messages(control)
    made.step()
    assert fake.opened == 0
    trigger(control)
    made.look_for_messages(control)
    made.step()
    assert fake.opened == 1
