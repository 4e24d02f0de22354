"""The example notebook, run in a kernel of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.small_spark import QUICK

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.spark
def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    import nbformat

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{QUICK} pyspark-shell")
    notebook: Any = nbformat.read(EXAMPLES / "flights.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # it is kept without
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    said = ["".join(_texts(cell)) for cell in notebook.cells if cell.cell_type == "code"]
    assert "tables: flights" in said[1]
    assert "2013-02-09 12:00:00" in said[4] and "303" in said[4]  # the blizzard
    assert "LocalWindowAggregate" in said[5]
    assert "Newark" in said[7] and "120835" in said[7]
    assert "did you mean origin?" in said[8] and "Traceback" not in said[8]


def _texts(cell: Any) -> list[str]:
    """What a cell printed and showed."""
    found = [output.get("text", "") for output in cell.outputs]
    return found + ["".join(output["data"].values()) for output in cell.outputs if "data" in output]
