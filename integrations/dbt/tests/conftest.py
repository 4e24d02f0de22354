"""A profile for dbt's own suite: a folder for each test class."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]
os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")


@pytest.fixture(scope="class")
def dbt_profile_target(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {"type": "tvfsql", "path": str(tmp_path_factory.mktemp("tvfsql")), "threads": 1}
