"""What an import loads: each in a Python of its own, as imports of other tests would hide it."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Callable

import pytest

import tvfsql.runtime

HEAVY = ("pyspark", "lark", "sqlglot", "numpy", "pyarrow", "pandas")
LIGHT_RUNTIME = ("local_spark.java", "host.doctor", "host.row_formats", "host.status_line")
RUNTIME = tuple(module.name for module in pkgutil.walk_packages(tvfsql.runtime.__path__, "tvfsql.runtime."))


def loaded(statement: str) -> set[str]:
    """The top packages in sys.modules after the statement."""
    program = f"import sys\n{statement}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def seconds(statement: str) -> float:
    program = f"import time\nstart = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_import_tvfsql_loads_nothing_heavy(record_property: Callable[[str, object], None]) -> None:
    assert not loaded("import tvfsql") & set(HEAVY)
    record_property("seconds of import tvfsql", min(seconds("import tvfsql") for _ in range(3)))


def test_what_executors_import_loads_no_parser() -> None:
    every = ", ".join(RUNTIME)
    assert not loaded(f"import tvfsql.plan.window, {every}") & {"lark", "sqlglot"}


def test_the_runtime_package_by_itself_loads_nothing_heavy() -> None:
    assert not loaded("import tvfsql.runtime") & set(HEAVY)


@pytest.mark.parametrize("name", LIGHT_RUNTIME)
def test_what_runs_without_spark_does_not_load_it(name: str) -> None:
    assert not loaded(f"import tvfsql.runtime.{name}") & set(HEAVY)
