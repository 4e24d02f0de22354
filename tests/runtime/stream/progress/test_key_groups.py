"""The counters of an operator, from the reports of its key groups as they come through Spark."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from pyspark.sql import Row

from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.operator.messages import Report, encoded
from tvfsql.runtime.stream.progress import counts
from tvfsql.runtime.stream.progress.counts import StreamCounts, operator_counters, totals

FIRST = Report(
    rows_in=5,
    late=1,
    late_right=1,
    late_versions=2,
    adjusted=3,
    rows_out=4,
    watermark=1000,
    output_watermark=1000,
    newest_end=7000,
    fired_end=1000,
    due=9000,
    state_rows=6,
    state_bytes=60,
    open_slices=2,
    channels="[]",
    open_ends=[4, 5, 7],
)
SECOND = replace(
    FIRST,
    watermark=None,
    output_watermark=None,
    newest_end=None,
    fired_end=None,
    due=8000,
    open_slices=3,
    late=0,
    open_ends=[5, 6],
)


def told(*reports: Report) -> list[str]:
    return [row["report"] for report in reports for row in encoded(report)]


def test_key_groups_add_up_and_what_none_of_them_has_is_left_out() -> None:
    assert operator_counters(told(FIRST, SECOND)) == {
        "rowsIn": 10,
        "windowsOut": 8,
        "numLateRecordsDropped": 1,
        "numLateRecordsDroppedRight": 2,
        "numLateRecordsAdjusted": 6,
        "numLateVersions": 4,
        "stateRows": 12,
        "stateBytes": 120,
        "watermark": 1000,
        "newestWindow": 7000,
        "openSlices": 3,
        "openWindows": 4,
        "channels": "[]",
        "due": 8000,
        "firedEnd": 1000,
    }
    alone = operator_counters(told(SECOND))
    assert alone.keys() & {"watermark", "newestWindow", "firedEnd"} == set()
    assert operator_counters([]) == {}


def test_every_field_of_a_report_is_counted_but_the_watermark_that_control_rows_carry() -> None:
    counted = {of for names, _ in counts.MERGES for of in names.values()}
    assert {field.name for field in fields(Report)} - counted == {"output_watermark"}
    assert counted <= json.loads(*told(FIRST)).keys()


@pytest.mark.parametrize(("observed", "counted", "expected"), [({}, 7, 7), ({}, -1, 0), ({"rowsOut": 5}, 7, 5)])
def test_rows_out_are_those_that_the_sink_counts_if_they_are_not_observed(
    observed: dict[str, int], counted: int, expected: int
) -> None:
    counts = StreamCounts()
    metrics = {"tvfsql_out": Row(**observed)} if observed else {}
    report = {"batchId": 0, "sources": [], "sink": {"numOutputRows": counted}, "observedMetrics": metrics}
    counts.take(report, LocalPlace(Path("control")))
    assert counts.added["rowsOut"] == expected


def test_totals_name_late_versions_and_late_rows_of_the_right_side_only_if_there_are_any() -> None:
    found = []
    for report in (FIRST, replace(FIRST, late_right=0, late_versions=0)):
        counts = StreamCounts()
        observed = {"tvfsql": Row(reports=told(report, report))}
        report = {"batchId": 0, "sources": [], "sink": {"numOutputRows": -1}, "observedMetrics": observed}
        counts.take(report, LocalPlace(Path("control")))
        found.append(totals([counts]))
    assert (found[0]["numLateVersions"], found[0]["numLateRecordsDroppedRight"]) == (4, 2)
    assert found[1].keys() == found[0].keys() - {"numLateVersions", "numLateRecordsDroppedRight"}
    assert found[1]["numLateRecordsDropped"] == 2
