"""The end of a bounded input of files and generated rows. It is announced in the same run that reads them, so the last
windows fire without a second query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tvfsql.plan.synthetic.tables import NEXT_ROW, ROWS
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended


class EndOfInput:
    """Announces the end of the input once, during one run of a query that looks for new files until it is stopped."""

    def __init__(self, control: Place) -> None:
        self.control = control
        self.announced = ended(control)  # by an earlier run
        self.before = -2  # the last micro-batch that had ended when the end was announced

    def look(self, seen: int | None, at_rest: bool, all_read: bool) -> bool:
        """Announce the end if everything has been read. Returns whether the query has processed the end and can stop.

        `seen`: the last micro-batch that has ended; None if none has ended yet. `at_rest`: since then the query has
        found nothing new. `all_read`: the query is at rest, or has only found files that were written after its start.
        """
        last = -1 if seen is None else seen
        if self.announced:  # micro-batch `before + 1` may have begun before the announcement, `before + 2` has not
            return all_read and last > self.before + (0 if at_rest else 1)
        if all_read:
            advance(self.control, END_OF_INPUT)
            self.announced, self.before = True, last
        return False


def are_generated(sources: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all rows of the generated tables among the sources of a progress report have been read. A table with a
    rate has none for a while, and is not at its end."""
    ends = (reported_offset(source["endOffset"]) for source in sources)
    return all(end[NEXT_ROW] >= end[ROWS] for end in ends if isinstance(end, dict) and ROWS in end)
