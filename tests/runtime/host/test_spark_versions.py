"""What Spark's minor versions say differently is read the same."""

from __future__ import annotations

from typing import Any

import pytest

from tvfsql.runtime.host.failures import failure
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


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("COLLECT_UNION", "4.3"),
        ("tuple_sketch_agg_double", "4.2"),
        ("kll_merge_agg_bigint", "4.1"),
        ("theta_union_agg", "4.1"),
        ("approx_top_k_combine", "4.1"),
    ],
)
def test_an_aggregate_that_spark_lacks_is_refused_with_the_version_that_has_it(name: str, version: str) -> None:
    message = f"[UNRESOLVED_ROUTINE] Cannot resolve routine `{name}` on search path [`system`.`builtin`]. Verify"
    assert str(failure(message)).startswith(f"error: {name} needs Spark {version}")
