"""Signals that arrive while a run starts."""

from __future__ import annotations

import signal

import pytest

from tvfsql.cli import main, run


class Interrupted:
    def __set_name__(self, owner: type, name: str) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_while_python_makes_a_class_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python 3.11 raises a RuntimeError for it, which would end the run with 1 and a traceback."""

    def import_something(*_: object) -> int:
        class Made:
            field = Interrupted()

        return len(vars(Made))

    monkeypatch.setattr(run, "_run_in", import_something)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    try:
        assert main(["run", "-e", "SELECT 1"]) == 130
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])
    assert capsys.readouterr().err == "interrupted\n"
