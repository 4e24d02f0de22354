"""examples/grafana.json asks for metrics that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tvfsql.runtime.stream.progress.metrics import SUMS
from tvfsql.runtime.stream.progress.prometheus import HELP, OF_CHANNELS

DASHBOARD = json.loads((Path(__file__).parents[2] / "examples" / "grafana.json").read_text(encoding="utf-8"))
ADDED = {*SUMS.values(), "micro_batches", "micro_batch_seconds", "micro_batches_unreported"}


def test_the_dashboard_shows_metrics_that_there_are() -> None:
    """Prometheus knows sums under names that end with _total."""
    known = {f"tvfsql_{name}{'_total' if name in ADDED else ''}" for name in HELP}
    known |= {f"tvfsql_channel_{name}" for name in OF_CHANNELS}
    queries = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"tvfsql_\w+", query)}
    assert asked and asked <= known
    assert all('{stream=~"$stream"}' in query for query in queries)
    variables = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
    assert set(re.findall(r"tvfsql_\w+", variables["stream"]["query"]["query"])) <= known


def test_its_panels_lie_beside_each_other() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len({*places}) == len(places) == len({panel["id"] for panel in DASHBOARD["panels"]})
