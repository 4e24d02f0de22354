"""`tvfsql package`: writes a script as a folder that spark-submit can run on machines without tvfsql."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tvfsql.api.program import Stages, code_of
from tvfsql.catalog import Table
from tvfsql.catalog.connectors.avro import AVRO, CONFLUENT
from tvfsql.catalog.connectors.jdbc import Jdbc
from tvfsql.catalog.connectors.kafka import Kafka
from tvfsql.emit.jobs import CHECKPOINT
from tvfsql.errors import DataError
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.node import functions_in
from tvfsql.runtime.cluster.code import our_zip, zip_of
from tvfsql.runtime.cluster.workers import NEEDED
from tvfsql.runtime.local_spark.start import MEANING, coordinates

PROGRAM, OURS, FUNCTIONS, NOTES = "program.py", "tvfsql.zip", "functions{}.zip", "README.md"

TEXT = """\
# How to run this

tvfsql compiled the script to `{program}`, which imports {zips}. Each machine needs Python {python} with
{packages}.

```
spark-submit {jars}{conf} --py-files {files} {program}
```
{driver}
Add `--master` and the other options of your cluster before `--py-files`. Relative paths of tables are relative to the
folder in which it runs. {state}

- **Databricks**: upload the folder as workspace files; a job of type Python script runs `{program}`. An init script of
  the cluster unpacks {zips} into its `site-packages`. Set the settings above in the cluster's Spark configuration.
  Needs a runtime with Spark {spark} or later, in the access mode for a single user. Not tried.
- **EMR**: copy the folder to S3. `aws emr add-steps --steps Type=Spark,ActionOnFailure=CONTINUE,Args=[...]` with the
  arguments above, each file as `s3://BUCKET/...`. Install the packages by a bootstrap action, or send an archive of a
  virtual environment (`spark.archives`, `spark.pyspark.python`). Not tried.
- **Kubernetes**: build an image of Spark with that Python and its packages, and the folder as `/opt/app`. Then
  `spark-submit --master k8s://https://HOST:PORT --deploy-mode cluster --conf spark.kubernetes.container.image=IMAGE`
  with the arguments above, each file as `local:///opt/app/...`. A checkpoint needs a volume that all pods mount. Not
  tried.
"""


DRIVER = """
A table of a database is read with the database's driver: add its coordinates to `--packages`.
"""


def write_package(
    target: str, statements: Sequence[Sequence[Stages]], checkpoint: str | None, spark: str
) -> list[Path]:
    """Write the folder: the program, zips of the code that it imports, and instructions. Returns the files.

    `checkpoint`: the folder for the state of its streams. `spark`: the version of Spark that it needs. Raises DataError
    if the folder contains other files, or if a stream has no checkpoint.
    """
    streams = any(query.mode == "streaming" for statement in statements for query in statement)
    if streams and checkpoint is None:
        raise DataError(
            "a package of streams needs a checkpoint", hint="--checkpoint DIR, a folder that all machines see"
        )
    folder = Path(target)
    zips = {OURS: our_zip()}
    for i, source in enumerate(_folders(query for statement in statements for query in statement)):
        zips[FUNCTIONS.format(f"-{i + 1}" if i else "")] = zip_of(Path(source))
    queries = [query for statement in statements for query in statement]
    scans = [node for query in queries for node in query.physical.walk() if isinstance(node, TableSourceScan)]
    read = [scan.source for scan in scans]
    written = [query.sink for query in queries] + [scan.dead_letters for scan in scans]
    tables = [table for table in (*read, *written) if table is not None and table.connector is not None]
    jars = sorted({table.connector.package for table in tables if table.connector and table.connector.package})
    state = f"The streams keep their state in `{checkpoint}`, which all machines must see." if streams else ""
    notes = TEXT.format(
        program=PROGRAM,
        zips=" and ".join(f"`{name}`" for name in zips),
        python=".".join(map(str, sys.version_info[:2])),
        packages=", ".join(f"`{package}`" for package in (*NEEDED.values(), *_python_packages(tables, written))),
        jars=f"--packages {','.join(map(coordinates, jars))} " if jars else "",
        driver=DRIVER if any(isinstance(table.connector, Jdbc) for table in read) else "",
        conf=" ".join(f"--conf {key}={value}" for key, value in MEANING.items()),
        files=",".join(zips),
        state=state,
        spark=spark,
    )
    texts = {PROGRAM: code_of(statements, checkpoint or CHECKPOINT), NOTES: notes}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if others := {entry.name for entry in folder.iterdir()} - {*zips, *texts}:
            raise DataError(f"the folder {target} has other files: {min(others)}", hint="choose an empty folder")
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, file in zips.items():
            (folder / name).write_bytes(file.read_bytes())
    except OSError as error:
        raise DataError(f"{error.filename or target} cannot be written: {error.strerror}") from error
    return [folder / name for name in (*texts, *zips)]


def _python_packages(tables: Iterable[Table], written: Sequence[Table | None]) -> list[str]:
    """The packages of Python that tables need, beyond those that all programs need. A database that is only read needs
    none."""
    found = set[str]()
    for table in tables:
        match table.connector:
            case Kafka(parts=parts) if any(part.format in (AVRO, CONFLUENT) for part in parts.values()):
                found.add("fastavro")
            case Jdbc() if table in written:
                found.add("psycopg[binary]")
    return sorted(found)


def _folders(queries: Iterable[Stages]) -> list[str]:
    found = {function.folder for query in queries for function in functions_in((query.physical,))}
    return sorted(found - {""})
