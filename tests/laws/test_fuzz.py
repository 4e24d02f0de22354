"""Whatever is typed, the answer is a program or a TvfSqlError."""

from __future__ import annotations

import os
from itertools import islice

import pytest
from fuzz import fault, mutants, seeds

MUTANTS = 2000 // int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "1"))


@pytest.mark.parametrize("part", range(4))
def test_mutants_of_scripts_are_refused_or_make_programs(part: int) -> None:
    for i, sql in enumerate(islice(mutants(seeds(), part), MUTANTS // 4)):
        assert fault(sql, ("batch", "streaming")[i % 2]) is None, sql
