"""What Spark's minor versions say differently is read the same."""

from __future__ import annotations

from typing import Any

import pytest

from tvfsql.runtime.host.spark_versions import reported_offset


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        ('{"bids": {"0": 12}}', {"bids": {"0": 12}}),
        ("{'bids': {'0': 12}}", {"bids": {"0": 12}}),  # of Spark 4.1
        ({"logOffset": 3}, {"logOffset": 3}),
        ("None", None),
        (None, None),
        ("a source's own", "a source's own"),
    ],
)
def test_an_offset_is_a_value(offset: Any, value: Any) -> None:
    assert reported_offset(offset) == value
