"""Asks Spark how many arguments each of its functions takes (5 minutes): python -m tests.support.spark_functions.

It writes tvfsql/bind/spark_text/functions.txt: a function in each line, and its numbers of arguments. A `+` behind the
last means any greater number too, a `*` any greater even number; no number means that Spark does not say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.small_spark import SMALL
from tvfsql.bind.spark_text.functions import functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = Path(__file__).parents[2] / "tvfsql" / "bind" / "spark_text" / "functions.txt"
MOST = 9
WRONG = re.compile(r"\[(WRONG_NUM_ARGS|REQUIRED_PARAMETER_NOT_FOUND)")
OTHER = re.compile(r"\[(NOT_A_SCALAR_FUNCTION|UNRESOLVED_ROUTINE)|mismatched input|PARSE_SYNTAX_ERROR")


def counts_of(name: str, spark: SparkSession) -> Iterator[int]:
    """The numbers of arguments up to MOST that a function takes, whatever their types."""
    from pyspark.errors import PySparkException

    for number in range(MOST + 1):
        try:
            spark.sql(f"SELECT `{name}`({', '.join(['NULL'] * number)})")
        except PySparkException as error:
            if OTHER.search(str(error)):
                return
            if WRONG.search(str(error)):
                continue
        yield number


def line(name: str, spark: SparkSession) -> str:
    counts = [*counts_of(name, spark)]
    more = "+" if counts[-2:] == [MOST - 1, MOST] else "*" if counts[-2:] == [MOST - 3, MOST - 1] else ""
    return " ".join([name, *map(str, counts)]) + more


def main() -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{SMALL} pyspark-shell"
    from tvfsql.runtime.local_spark.start import start_spark

    spark = start_spark()
    FILE.write_text("".join(f"{line(name, spark)}\n" for name in sorted(functions())), encoding="utf-8")


if __name__ == "__main__":
    main()
