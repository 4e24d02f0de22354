"""The runs of INSERTs as OpenLineage's events. What becomes of an event never changes what becomes of its INSERT."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql.api.openlineage.datasets import OWN, Dataset, datasets
from tvfsql.bind.pass_through.lineage import origins
from tvfsql.catalog import Catalog, Table
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.plan.analysis.lineage import lineage
from tvfsql.plan.node import instances
from tvfsql.plan.nodes import Scan
from tvfsql.secrets import without, without_passwords

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent

    from tvfsql.api.program import Stages
    from tvfsql.api.streams.running import Streams
    from tvfsql.runtime.stream.driver.running import Running

LOG = logging.getLogger("tvfsql")
HINT = "pip install 'tvfsql[openlineage]'"
PRODUCER = f"urn:tvfsql:{metadata.version('tvfsql')}"
AGAIN = 60.0  # seconds between two events RUNNING of a stream
START, RUNNING, COMPLETE, FAIL, ABORT = "START", "RUNNING", "COMPLETE", "FAIL", "ABORT"


def is_configured() -> bool:
    """Whether the environment asks for events, in a way that OpenLineage's client knows."""
    if os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    named = any(key in ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG") for key in os.environ)
    named = named or any(key.startswith("OPENLINEAGE__TRANSPORT") for key in os.environ)
    return named or any((folder / "openlineage.yml").is_file() for folder in (Path(), Path.home() / ".openlineage"))


def open_client(target: str | None) -> OpenLineageClient:
    """The client that sends to a URL or adds to a file; None: where the environment says. Raises DataError."""
    try:
        from openlineage.client import OpenLineageClient, event_v2
    except ImportError:
        raise DataError("OpenLineage needs a Python package", hint=HINT) from None
    event_v2.set_producer(PRODUCER)
    if target is None:
        return OpenLineageClient()
    from openlineage.client.transport import get_default_factory

    asked: dict[str, Any] = {"type": "file", "log_file_path": os.path.abspath(target), "append": True}
    if target.startswith(("http://", "https://")):
        asked = {"type": "http", "url": target}
        if key := os.environ.get("OPENLINEAGE_API_KEY"):
            asked["auth"] = {"type": "api_key", "apiKey": key}
    try:
        return OpenLineageClient(transport=get_default_factory().create(asked))
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"events of OpenLineage cannot be sent to {without_passwords(target)}: {error}") from error


@dataclass
class Events:
    """Sends the events of a session. `script` is the name of what runs."""

    client: OpenLineageClient
    namespace: str = field(default_factory=lambda: os.environ.get("OPENLINEAGE_NAMESPACE") or "default")
    names: dict[str, list[str]] = field(default_factory=dict)  # the INSERTs of each name
    failed: bool = False
    sender: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "tvfsql-openlineage"))

    def begin(self, queries: Sequence[Stages], catalog: Catalog, script: str | None) -> list[OneRun]:
        """Tell that INSERTs start."""
        try:
            names = [(query, self._name(query, script)) for query in queries if query.sink is not None]
            runs = [OneRun(self, query, catalog, name) for query, name in names]
        except Exception as error:
            self.lost(error)
            return []
        tell(runs, START)
        return runs

    @contextmanager
    def around(self, queries: Sequence[Stages], catalog: Catalog, script: str | None) -> Iterator[None]:
        """Tell of INSERTs that run in this block."""
        runs = self.begin(queries, catalog, script)
        try:
            yield
        except BaseException as error:
            tell_end(runs, error)
            raise
        tell_end(runs)

    def of_streams(
        self,
        queries: Sequence[Stages],
        catalog: Catalog,
        script: str | None,
        start: Callable[[], Running],
        streams: Streams,
    ) -> Running:
        """Start streams, and tell of their INSERTs until they have ended."""
        runs = self.begin(queries, catalog, script)
        try:
            running = start()
        except BaseException as error:
            tell_end(runs, error)
            raise
        report = _follow(running, runs)
        streams.reports.append(report)
        running.when_ended(lambda: streams.reports.remove(report))
        return running

    def _name(self, query: Stages, script: str | None) -> str:
        """The name of an INSERT: that of the script and of its table; a second one into that table has a number."""
        assert query.sink is not None
        name = f"{Path(script).stem if script else OWN}.{query.sink.name}"
        known = self.names.setdefault(name, [])
        if query.sql not in known:
            known.append(query.sql)
        number = known.index(query.sql)
        return f"{name}.{number + 1}" if number else name

    def send(self, event: Any) -> None:
        """Send an event after those before it, in a thread that Python waits for at its end."""
        self.sender.submit(self._send, event)

    def flush(self) -> None:
        """Wait until all events are sent."""
        self.sender.submit(lambda: None).result()

    def _send(self, event: Any) -> None:
        try:
            self.client.emit(event)
        except Exception as error:
            self.lost(error)

    def lost(self, error: Exception) -> None:
        """Log that an event is not sent, once."""
        if not self.failed:
            LOG.warning("an event of OpenLineage could not be sent: %s", without(str(error)))
        self.failed = True


def tell(runs: Sequence[OneRun], state: str, error: BaseException | None = None) -> None:
    """Tell the state of runs."""
    for run in runs:
        try:
            run.events.send(run.event(state, error))
        except Exception as lost:
            run.events.lost(lost)


def tell_end(runs: Sequence[OneRun], error: BaseException | None = None) -> None:
    """Tell how runs have ended. A KeyboardInterrupt stops them."""
    state = COMPLETE if error is None else ABORT if isinstance(error, KeyboardInterrupt) else FAIL
    tell(runs, state, error if state == FAIL else None)


def _follow(running: Running, runs: Sequence[OneRun]) -> Callable[[object], None]:
    """Tell how streams end. Returns what to call with the metrics of each micro-batch."""

    def ended() -> None:
        failure = running.failures[0] if running.failures else None
        tell_end(runs, failure or (KeyboardInterrupt() if running.stopping.is_set() else None))

    last = [0.0]

    def report(_: object) -> None:
        if running.active and (not last[0] or time.monotonic() - last[0] >= AGAIN):
            last[0] = time.monotonic()
            tell(runs, RUNNING)

    running.when_ended(ended)
    return report


class OneRun:
    """One run of an INSERT: the same job, datasets and id in all its events."""

    def __init__(self, events: Events, query: Stages, catalog: Catalog, name: str) -> None:
        from openlineage.client.uuid import generate_new_uuid

        self.events, self.query, self.name = events, query, name
        self.id = str(generate_new_uuid())
        self.found = lineage(query.logical, origins)
        assert query.sink is not None
        self.output = [*datasets(query.sink)]
        self.inputs = {scan.table: [*_of_scan(scan, catalog)] for scan in instances(query.logical, Scan)}

    def event(self, state: str, error: BaseException | None = None) -> RunEvent:
        """An event of this run."""
        from openlineage.client.event_v2 import RunEvent, RunState

        return RunEvent(
            eventTime=datetime.now(UTC).isoformat(timespec="milliseconds"),
            run=self._run(error),
            job=self._job(),
            eventType=RunState[state],
            producer=PRODUCER,
            inputs=self._inputs(),
            outputs=self._outputs(),
        )

    def _run(self, error: BaseException | None) -> Run:
        from openlineage.client.event_v2 import Run
        from openlineage.client.facet_v2 import error_message_run, parent_run, processing_engine_run

        facets: dict[str, Any] = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                metadata.version("pyspark"), "spark", metadata.version("tvfsql")
            )
        }
        if error is not None:
            message = error.message if isinstance(error, TvfSqlError) else f"{type(error).__name__}: {error}"
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(without(message), "SQL")
        namespace, _, rest = os.environ.get("OPENLINEAGE_PARENT_ID", "").partition("/")
        name, slash, id = rest.rpartition("/")
        if slash:
            parent = parent_run.Run(id), parent_run.Job(namespace, name)
            facets["parent"] = parent_run.ParentRunFacet(*parent)
        return Run(self.id, facets)

    def _job(self) -> Job:
        from openlineage.client.event_v2 import Job
        from openlineage.client.facet_v2 import job_type_job, sql_job

        mode = "STREAMING" if self.query.mode == "streaming" else "BATCH"
        kind = job_type_job.JobTypeJobFacet(mode, "TVFSQL", "QUERY")
        sql = sql_job.SQLJobFacet(self.query.shown_sql, "flink")
        return Job(self.events.namespace, self.name, {"jobType": kind, "sql": sql})

    def _inputs(self) -> list[InputDataset]:
        from openlineage.client.event_v2 import InputDataset

        found = {(each.namespace, each.name): each for inputs in self.inputs.values() for each in inputs}
        return [InputDataset(each.namespace, each.name, facets=_facets(each)) for each in found.values()]

    def _outputs(self) -> list[OutputDataset]:
        from openlineage.client.event_v2 import OutputDataset

        lineage = {"columnLineage": self._column_lineage()}
        return [OutputDataset(each.namespace, each.name, facets={**_facets(each), **lineage}) for each in self.output]

    def _column_lineage(self) -> Any:
        from openlineage.client.facet_v2 import column_lineage_dataset as facet

        def field(origin: tuple[str, str], kind: str, subtype: str) -> Iterator[facet.InputField]:
            for each in self.inputs.get(origin[0], []):
                how = facet.Transformation(kind, subtype, masking=False)
                yield facet.InputField(each.namespace, each.name, origin[1], [how])

        columns = {
            name: facet.Fields([made for origin, how in origins.items() for made in field(origin, "DIRECT", how)])
            for name, origins in self.found.columns.items()
            if name not in self.found.unknown
        }
        rows = [made for origin, why in self.found.rows for made in field(origin, "INDIRECT", why)]
        return facet.ColumnLineageDatasetFacet(columns, rows)


def _of_scan(scan: Scan, catalog: Catalog) -> Iterator[Dataset]:
    table = catalog.look_up(scan.table)
    if isinstance(table, Table):
        yield from datasets(table)
    else:
        yield Dataset(OWN, scan.table, scan.fields)


def _facets(dataset: Dataset) -> dict[str, Any]:
    from openlineage.client.facet_v2 import datasource_dataset, schema_dataset

    columns = [
        schema_dataset.SchemaDatasetFacetFields(each.name, each.type.flink, ordinal_position=i + 1)
        for i, each in enumerate(dataset.fields)
    ]
    return {
        "schema": schema_dataset.SchemaDatasetFacet(columns),
        "dataSource": datasource_dataset.DatasourceDatasetFacet(
            dataset.namespace, dataset.namespace if "://" in dataset.namespace else None
        ),
    }
