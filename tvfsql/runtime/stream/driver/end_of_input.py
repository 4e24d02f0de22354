"""The end of a bounded input of files: it is announced in the run that has read them, so that the last windows fire
without a second query."""

from __future__ import annotations

from pathlib import Path

from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended


class EndOfInput:
    """Of one run of a query that looks for new files until it is stopped."""

    def __init__(self, control: Path) -> None:
        self.control = control
        self.announced = ended(control)  # by a run before
        self.before = -2  # the last micro-batch that had ended by then

    def look(self, seen: int | None, at_rest: bool, all_read: bool) -> bool:
        """Announce the end if everything has been read. Returns whether the query has processed the end and can stop.

        `seen`: the last micro-batch that has ended; None: none has. `at_rest`: after it, the query found nothing new.
        `all_read`: so it did, or what it found came after its start.
        """
        last = -1 if seen is None else seen
        if self.announced:  # the micro-batch after `before` may have begun earlier, the one after that has not
            return all_read and last > self.before + (0 if at_rest else 1)
        if all_read:
            advance(self.control, END_OF_INPUT)
            self.announced, self.before = True, last
        return False
