"""The README.md of a package: what its machines need, how it is submitted, stopped, started again and changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from tvfsql.api.program import Stages
from tvfsql.catalog import Table
from tvfsql.catalog.connectors.avro import AVRO, CONFLUENT
from tvfsql.catalog.connectors.jdbc import Jdbc
from tvfsql.catalog.connectors.kafka import Kafka
from tvfsql.physical.operators import TableSourceScan
from tvfsql.runtime.cluster.workers import NEEDED
from tvfsql.runtime.local_spark.start import MEANING, coordinates
from tvfsql.secrets import OF_ENVIRONMENT

TEXT = """\
# How to run this

tvfsql compiled the script to `{program}`, which imports {zips}. Each machine needs Python {python} with
{packages}.

```
{submit}
```

Write the URL of your cluster for MASTER (`yarn`, `spark://HOST:7077`, `local[4]`), and add its other options there.
Relative paths of tables are relative to the folder in which it runs.
{driver}{environment}{files}{streams}
## Platforms

- **Databricks**: upload the folder as workspace files; a job of type Python script runs `{program}`. An init script of
  the cluster unpacks {zips} into its `site-packages`. Set the settings above in the cluster's Spark configuration.
  Needs a runtime with Spark {spark} or later, in the access mode for a single user. Not tried.
- **EMR**: copy the folder to S3. `aws emr add-steps --steps Type=Spark,ActionOnFailure=CONTINUE,Args=[...]` with the
  arguments above, each file as `s3://BUCKET/...`. Install the packages by a bootstrap action, or send an archive of a
  virtual environment (`spark.archives`, `spark.pyspark.python`). Not tried.
- **Kubernetes**: build an image of Spark with that Python and its packages, and the folder as `/opt/app`. Then
  `spark-submit --master k8s://https://HOST:PORT --deploy-mode cluster --conf spark.kubernetes.container.image=IMAGE`
  with the other arguments above, each file as `local:///opt/app/...`. A checkpoint needs a volume that all pods mount.
  Not tried.
"""

DRIVER = """\
A table of a database is read with the database's driver: add its coordinates to `--packages`.
"""
ENVIRONMENT = """
## Variables of the environment

The program reads {names}. Only the driver needs them: `export` them where you call spark-submit. With
`--deploy-mode cluster` the driver runs elsewhere, and gets them by an option for each:

- YARN: `--conf spark.yarn.appMasterEnv.{first}=...`
- Kubernetes: `--conf spark.kubernetes.driver.secretKeyRef.{first}=SECRET:KEY`, or
  `--conf spark.kubernetes.driverEnv.{first}=...`

The values of these options are visible in the list of processes and in Spark's UI; a Kubernetes secret is not.
"""
FILES = """
## File systems

{schemes} needs a package of Hadoop, of the version of Hadoop in your Spark (`ls $SPARK_HOME/jars/hadoop-client-api-*`):
{packages} in `--packages` is for the Spark that tvfsql is installed with. Leave it out where
the cluster has it, as EMR does. Logins and the region are settings: `--conf spark.hadoop.fs.s3a.endpoint.region=...`.
"""
STREAMS = """
## The stream

It keeps its state in `{checkpoint}`, which all machines must see.

- **Stop**: Ctrl-C, or SIGTERM to the Python process of the driver, which ends after its micro-batch. `yarn application
  -kill ID`, `kubectl delete pod POD` and a crash are safe, too: the next run repeats the unfinished micro-batch.
- **Start again**: the same command. It goes on where the state is. Two runs must not use one checkpoint.
- **Bring a changed script**: `tvfsql check --mode streaming --checkpoint {checkpoint} SCRIPT.sql` says whether it may
  go on with this state, and `tvfsql package` writes it into a new folder, with the same `--checkpoint`. Stop the old
  one, and submit the new one. tvfsql's page "Running streams" says what may change.
- **Counters and logs**: the driver prints warnings and errors to stderr, and at the end the counters (`rowsIn`, late
  rows, `watermark`): in client mode on the terminal, on YARN `yarn logs -applicationId ID`, on Kubernetes
  `kubectl logs POD`. While it runs, Spark's UI shows its rates and its state under "Structured Streaming".
  `tvfsql state {checkpoint}` reads the state.

YARN and Kubernetes were not tried.
"""
# packages of Hadoop by the schemes of URLs
HADOOP = {"s3a": "hadoop-aws", "abfs": "hadoop-azure", "abfss": "hadoop-azure"}


def readme(
    queries: Sequence[Stages], program: str, code: str, zips: Sequence[str], checkpoint: str | None, spark: str
) -> str:
    """The text for a package with the file `program`, whose text is `code`, and these zips.

    `checkpoint`: the folder for the state of its streams; None: it has none. `spark`: the version that it needs.
    """
    scans = [node for query in queries for node in query.physical.walk() if isinstance(node, TableSourceScan)]
    read = [scan.source for scan in scans]
    written = [query.sink for query in queries] + [scan.dead_letters for scan in scans]
    tables = [table for table in (*read, *written) if table is not None and table.connector is not None]
    jars = sorted({table.connector.package for table in tables if table.connector and table.connector.package})
    paths = [checkpoint or "", *(table.connector.path or "" for table in tables if table.connector)]
    variables = sorted({*OF_ENVIRONMENT.findall(code)})
    submit = [
        "spark-submit",
        "--master MASTER",
        *_packages([*map(coordinates, jars), *_packages_of_hadoop(paths)]),
        *(f"--conf {key}={value}" for key, value in MEANING.items()),
        f"--py-files {','.join(zips)}",
        program,
    ]
    return TEXT.format(
        program=program,
        zips=_listed(zips),
        python=".".join(map(str, sys.version_info[:2])),
        packages=", ".join(f"`{package}`" for package in (*NEEDED.values(), *_python_packages(tables, written))),
        submit=" \\\n  ".join(submit),
        driver=DRIVER if any(isinstance(table.connector, Jdbc) for table in read) else "",
        environment=ENVIRONMENT.format(names=_listed(variables), first=variables[0]) if variables else "",
        files=_file_systems(paths),
        streams=STREAMS.format(checkpoint=checkpoint) if any(query.mode == "streaming" for query in queries) else "",
        spark=spark,
    )


def _packages(coordinates_of: Sequence[str]) -> list[str]:
    return [f"--packages {','.join(coordinates_of)}"] if coordinates_of else []


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


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _file_systems(paths: Iterable[str]) -> str:
    """What to know about the file systems that need a package; "" if none does."""
    schemes = _schemes(paths)
    packages = _listed(_packages_of_hadoop(paths))
    return FILES.format(schemes=_listed(f"{each}://" for each in schemes), packages=packages) if schemes else ""


def _packages_of_hadoop(paths: Iterable[str]) -> list[str]:
    return sorted({f"org.apache.hadoop:{HADOOP[scheme]}:{_hadoop()}" for scheme in _schemes(paths)})


def _schemes(paths: Iterable[str]) -> list[str]:
    return sorted({path.partition("://")[0] for path in paths} & HADOOP.keys())


def _hadoop() -> str:
    """The version of Hadoop in the installed Spark."""
    spec = find_spec("pyspark")
    folders = (spec.submodule_search_locations if spec else None) or []
    found = [jar for folder in folders for jar in Path(folder, "jars").glob("hadoop-client-api-*.jar")]
    return found[0].stem.removeprefix("hadoop-client-api-") if found else "VERSION"
