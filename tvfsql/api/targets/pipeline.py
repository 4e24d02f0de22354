"""`tvfsql compile --target sdp`: writes a script as a declarative pipeline, which `spark-pipelines run` runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tvfsql.api.program import Stages, pipeline_of
from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.local_spark.start import MEANING
from tvfsql.secrets import OF_ENVIRONMENT

SPEC, MODULE, STORAGE = "spark-pipeline.yml", "transformations/{}.py", "pipeline-storage"


def write_pipeline(target: str | None, statements: Sequence[Sequence[Stages]], name: str) -> int:
    """Write the folder `target` of a pipeline: its specification and the module of its datasets; without a folder print
    the module. Raises DataError if the folder has another pipeline, and UnsupportedError for what a pipeline cannot do.
    """
    code = pipeline_of(statements)
    if target is None:
        sys.stdout.write(code)
        return 0
    folder, module = Path(target), MODULE.format(name)
    settings = {key: value for statement in statements for query in statement for key, value in query.spark.items()}
    if secret := next((key for key, value in settings.items() if OF_ENVIRONMENT.search(value)), None):
        problem = f"the specification of a pipeline has no variables of the environment, and {secret} reads one"
        raise UnsupportedError(problem, hint="set it in the configuration of Spark, and leave out SET")
    storage = (folder / STORAGE).resolve().as_uri()
    try:
        others = {*(folder / module).parent.glob("*.py")} - {folder / module}
        if others:
            raise DataError(f"the folder {target} has other files: {min(others)}", hint="choose an empty folder")
        (folder / module).parent.mkdir(parents=True, exist_ok=True)
        (folder / module).write_text(code, encoding="utf-8")
        (folder / SPEC).write_text(_specification(name, storage, MEANING | settings), encoding="utf-8")
    except OSError as error:
        raise DataError(f"{error.filename} cannot be written: {error.strerror}") from error
    return 0


def _specification(name: str, storage: str, settings: Mapping[str, str]) -> str:
    """YAML; a string of JSON is one of YAML."""
    lines = [f"name: {json.dumps(name)}", f"storage: {json.dumps(storage)}", "libraries:", "  - glob:"]
    lines += [f"      include: {MODULE.partition('/')[0]}/**", "configuration:"]
    lines += [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join([*lines, ""])
