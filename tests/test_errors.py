"""Error goldens: what a user is told, where the caret stands, and what to type instead."""

from __future__ import annotations

import pytest
from golden import Case, PlanExtension, cases, outcomes
from syrupy.assertion import SnapshotAssertion

from tvfsql.errors import TvfSqlError


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(PlanExtension)


@pytest.mark.parametrize("case", cases("errors"), ids=str)
def test_error(case: Case, golden: SnapshotAssertion) -> None:
    with pytest.raises(TvfSqlError) as caught:
        outcomes(case)
    kind = type(caught.value).__name__
    assert f"{kind}\n{caught.value}\n" == golden
