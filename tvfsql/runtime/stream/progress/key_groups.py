"""The counters of a stateful operator in a micro-batch, from what its key groups report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

_SUMS = {
    "rowsIn": "rows_in",
    "windowsOut": "rows_out",
    "numLateRecordsDropped": "late",
    "numLateRecordsDroppedRight": "late_right",
    "numLateRecordsAdjusted": "adjusted",
    "numLateVersions": "late_versions",
    "stateRows": "state_rows",
    "stateBytes": "state_bytes",
}
_MAXIMA = {
    "watermark": "watermark",
    "newestWindow": "newest_end",
    "openSlices": "open_slices",
    "channels": "channels",
    "zone": "zone",
}
_MINIMA = {"due": "due", "firedEnd": "fired_end"}
_NUMBERS = {"openWindows": "open_ends"}
MERGES: tuple[tuple[Mapping[str, str], Callable[[list[Any]], Any]], ...] = (
    (_SUMS, sum),
    (_MAXIMA, max),
    (_MINIMA, min),
    (_NUMBERS, lambda values: len({*chain(*values)})),
)


def operator_counters(reports: Iterable[str]) -> dict[str, Any]:
    """The counters of all key groups together. Those that no key group reports are left out.

    `reports` are JSON objects with the fields of `operator.messages.Report`.

    rowsIn, numLateRecordsDropped, numLateRecordsDroppedRight (of the second input), numLateVersions,
    numLateRecordsAdjusted. windowsOut: the rows that were emitted. stateRows, stateBytes. watermark. newestWindow: the
    end of the last open window. openWindows: the open windows, as far as they are told apart. openSlices: the largest
    number in one key group. due: when the operator must be called even without rows. firedEnd: the end of the oldest
    window that fired at its end. channels: the same in all key groups, as JSON; zone: that of its windows. Times are
    epoch ms.
    """
    groups = [json.loads(report) for report in reports]
    found: dict[str, Any] = {}
    for names, merge in MERGES:
        for name, of in names.items():
            values = [group[of] for group in groups if group.get(of) is not None]
            if values:
                found[name] = merge(values)
    return found
