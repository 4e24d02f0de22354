"""Workers pass over loaded modules when they collect garbage."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tvfsql.runtime.local_spark import python_daemon


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    before = gc.get_freeze_count()
    yield
    if not before:
        gc.unfreeze()


def test_modules_of_a_task_are_frozen_with_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def task(sock: socket.socket, authenticated: bool) -> int:
        assert authenticated
        module = ModuleType("of_this_test")
        module.held = [[] for _ in range(1000)]  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "of_this_test", module)
        return 7

    monkeypatch.setattr(python_daemon, "_worker", task)
    before = gc.get_freeze_count()
    assert python_daemon.worker(socket.socket(), True) == 7
    assert gc.get_freeze_count() >= before + 1000


def test_a_task_that_loads_nothing_leaves_its_objects_to_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[list[int]] = []

    def task(*_: object) -> int:
        kept.extend([] for _ in range(1000))
        return 0

    monkeypatch.setattr(python_daemon, "_worker", task)
    before = gc.get_freeze_count()
    assert python_daemon.worker(socket.socket(), False) == 0
    assert gc.get_freeze_count() == before
