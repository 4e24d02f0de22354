"""Asks Flink and tvfsql for the rows of random scripts, and compares them: `make differential SEED=1 N=100`.

.venv/bin/python -m tests.support.differential SEED N [--mode MODE] [--log FILE] [--whole]
.venv/bin/python -m tests.support.differential --keep FILE
Each script for which the rows differ, and not in a way of known_differences.py, is printed, after it was made smaller
(unless `--whole`). With `--log` all scripts are written with Flink's answers and the verdicts, a line of JSON each.
`--ask FILE` only asks Flink, hours before if need be, and writes its answers into a file, which `--told FILE` reads.
`--keep` takes those of a log that Flink has answered into tests/data/flink_differential.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.models.choices import Tree, smallest
from tests.models.random_scripts import SCRIPTS_OF_A_WORLD, random_script, world_of
from tests.support.conformance import MODES, Situation, Table, key_of, mentions
from tests.support.flink_process import Flink
from tests.support.known_differences import known
from tests.support.small_spark import SMALL
from tests.support.tvfsql_rows import Answer, Tables, answer, flinks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parents[1]
ANSWERS = HERE / "data" / "flink_differential.json"
TRIES = 60  # how often both engines are asked to make a script smaller
MOST_ROWS = 60  # of an answer that is kept
BAD = ("rows", "crash")
UNREAD = "UNREAD"  # the text of such a value in flink_answers.py
Told = dict[str, dict[str, Any]]  # Flink's answers, by key_of of what was asked


@dataclass(frozen=True)
class Verdict:
    """`kind` is same; rows: other rows; refused: only tvfsql refuses the script or fails; beyond: only Flink does;
    neither answers; unread: PyFlink cannot read a value of Flink's; crash: tvfsql fails without an error of its own.
    `known` are the words that name the difference."""

    kind: str
    details: str = ""
    known: str = ""

    @property
    def bad(self) -> bool:
        return self.kind in BAD and not self.known


class Tvfsql:
    """tvfsql in one Spark. Scripts in batch over the same tables share a session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.tables: Tables | None = None

    def answer(self, script: Situation) -> Answer:
        if script.modes == ("streaming",):
            with TemporaryDirectory() as folder:
                return answer(script, "streaming", self.spark, Path(folder))
        key = script.zone, script.tables
        if self.tables is None or self.tables.key != key:
            self.tables = Tables(script, self.spark, key)
        return self.tables.answer(script)


def judged(script: Situation, told: dict[str, Any], found: Callable[[Situation], Answer]) -> Verdict:
    """What tvfsql's answer is beside Flink's."""
    refused, rows = told.get("refused") or told.get("failed"), tuple[Counter[str], ...]()
    try:
        here = found(script)
    except Exception as error:
        kind, details = "crash", f"{type(error).__name__}: {error}"[:600]
    else:
        if here.refused is not None:
            kind, details = ("neither" if refused else "refused"), here.refused
        elif refused:
            kind, details = "beyond", refused
        elif UNREAD in json.dumps(told["rows"]):
            kind, details = "unread", ""
        else:
            rows = here.rows, flinks(told)
            details = _of_rows(*rows)
            kind = "rows" if details else "same"
    return Verdict(kind, details, known(script, kind, details, *rows))


def _of_rows(here: Counter[str], there: Counter[str]) -> str:
    if here == there:
        return ""
    only = [sorted((one - other).elements()) for one, other in ((here, there), (there, here))]
    counts = f"{here.total()} rows here, {there.total()} in Flink"
    return f"{counts}\nonly here: {only[0][:3]}\nonly in Flink: {only[1][:3]}"


@dataclass(frozen=True)
class Found:
    """A script, the choices that made it, Flink's answer, and the verdict."""

    seed: int
    script: Situation
    made: Tree
    told: dict[str, Any]
    verdict: Verdict


def differences(seeds: range, mode: str, spark: SparkSession, told: Told | None = None) -> Iterator[Found]:
    """The verdicts on the scripts of these seeds. Flink answers in a process of its own, meanwhile, unless it has."""
    here, scripts = Tvfsql(spark), [random_script(seed, mode) for seed in seeds]
    with Flink() as flink, ThreadPoolExecutor(1) as pool:

        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            return (told or {}).get(key_of(asked)) or flink.ask(asked)

        answers = [pool.submit(answer, each.script.asked(mode)) for each in scripts]
        for seed, (script, made, _), future in zip(seeds, scripts, answers, strict=True):
            found = future.result()
            yield Found(seed, script, made, found, judged(script, found, here.answer))


def ask(seeds: range, mode: str, file: Path) -> None:
    """Append Flink's answers to the scripts of these seeds to a file."""
    with Flink() as flink, file.open("a", encoding="utf-8") as out:
        for seed in seeds:
            asked = random_script(seed, mode).script.asked(mode)
            out.write(json.dumps({"key": key_of(asked), **flink.ask(asked)}, ensure_ascii=False) + "\n")
            out.flush()


def told_in(file: Path) -> Told:
    return {each["key"]: each for each in map(json.loads, file.read_text(encoding="utf-8").splitlines())}


def reduced(found: Found, mode: str, flink: Flink, here: Tvfsql) -> tuple[Situation, Verdict]:
    """A smaller script, over fewer rows, with a verdict of the same kind."""
    verdicts: dict[str, Verdict] = {}

    def verdict(script: Situation) -> Verdict:
        key = key_of(script.asked(mode))
        if key not in verdicts and len(verdicts) < TRIES:
            verdicts[key] = judged(script, flink.ask(script.asked(mode)), here.answer)
        return verdicts.get(key, Verdict("same"))

    def fails(script: Situation) -> bool:
        found_now = verdict(script)
        return found_now.bad and found_now.kind == found.verdict.kind

    made = smallest(found.made, lambda made: fails(random_script(found.seed, mode, made).script))
    script = with_few_rows(random_script(found.seed, mode, made).script, fails)
    return script, verdict(script)


def with_few_rows(script: Situation, fails: Callable[[Situation], bool]) -> Situation:
    for at, table in enumerate(script.tables):
        rows, size = table.rows, len(table.rows)
        while size := size // 2:
            for start in range(0, len(rows), size):
                fewer = (*rows[:start], *rows[start + size :])
                tables = (*script.tables[:at], replace(table, rows=fewer), *script.tables[at + 1 :])
                if fails(smaller := replace(script, tables=tables)):
                    script, rows = smaller, fewer
                    break
    return script


def shown(script: Situation) -> str:
    """The statements of a script, and the rows of its tables, if they are few."""
    statements = [*script.views, *script.inserts, script.sql]
    tables = [table for table in script.tables if mentions(" ".join(statements), table.name)]
    rows = [f"-- {table.name}: {json.dumps(table.rows)}" for table in tables if len(table.rows) < 6]
    return "\n".join(
        [*rows, *(f"CREATE TABLE {table.name} ({table.ddl});" for table in tables), ";\n".join(statements)]
    )


def keep(log: Path) -> None:
    """Add the scripts of a log that Flink has answered, and tvfsql in the same way, to those of the tests."""
    worlds, scripts = kept()
    for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if line["verdict"]["kind"] == "same" and 0 < len(line["flink"]["rows"]) <= MOST_ROWS:
            worlds[line["world"]["name"]] = line["world"]
            answer = {"world": line["world"]["name"], "types": line["flink"]["types"], "rows": line["flink"]["rows"]}
            scripts.append({key: line[key] for key in ("mode", "views", "inserts", "sql")} | answer)
    lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in (*worlds.values(), *scripts)]
    ANSWERS.write_text("".join(lines), encoding="utf-8")


def kept() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The worlds by name, and the scripts about them."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    made = [json.loads(line) for line in lines]
    return {each["name"]: each for each in made if "tables" in each}, [each for each in made if "sql" in each]


def kept_scripts(mode: str) -> list[tuple[Situation, dict[str, Any]]]:
    """The scripts of the tests, and Flink's answers."""
    worlds, scripts = kept()
    return [(script_of(each, worlds[each["world"]]), each) for each in scripts if each["mode"] == mode]


def script_of(line: dict[str, Any], world: dict[str, Any]) -> Situation:
    tables = [Table(**{**each, "rows": tuple(map(tuple, each["rows"]))}) for each in world["tables"]]
    views, inserts, mode = tuple(line["views"]), tuple(line["inserts"]), line["mode"]
    read = " ".join([*views, *inserts, line["sql"]])
    tables = [each for each in tables if mode == "batch" or mentions(read, each.name)]
    return Situation("random", "", "", line["sql"], tuple(tables), views, (mode,), world["zone"], inserts=inserts)


def logged(found: Found, mode: str) -> dict[str, Any]:
    """A line of the log."""
    script, world = found.script, world_of(found.seed // SCRIPTS_OF_A_WORLD)
    tables = [asdict(each.table) for each in world.tables]
    return {
        "seed": found.seed,
        "mode": mode,
        "views": script.views,
        "inserts": script.inserts,
        "sql": script.sql,
        "verdict": vars(found.verdict),
        "flink": found.told,
        "world": {"name": str(found.seed // SCRIPTS_OF_A_WORLD), "zone": world.zone, "tables": tables},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--ask", type=Path)
    parser.add_argument("--told", type=Path)
    arguments = parser.parse_args()
    if arguments.keep:
        keep(arguments.keep)
        return
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    modes = [arguments.mode] if arguments.mode else MODES
    if arguments.ask:
        for mode in modes:
            ask(seeds, mode, arguments.ask)
        return
    told = told_in(arguments.told) if arguments.told else None
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{SMALL} pyspark-shell"
    from tvfsql.runtime.local_spark.start import start_spark

    spark = start_spark()
    for mode in modes:
        counts, start, bad = Counter[str](), time.monotonic(), list[Found]()
        for found in differences(seeds, mode, spark, told):
            counts[f"{found.verdict.kind}, known" if found.verdict.known else found.verdict.kind] += 1
            if arguments.log:
                with arguments.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(logged(found, mode), ensure_ascii=False) + "\n")
            if found.verdict.bad:
                bad.append(found)
                print(titled(found.seed, mode, found.script, found.verdict), flush=True)
        print(
            f"{mode}: {len(seeds)} scripts in {time.monotonic() - start:.0f} s: {dict(counts.most_common())}",
            flush=True,
        )
        if bad and not arguments.whole:
            with Flink() as flink:
                for found in bad:
                    print("smaller:", titled(found.seed, mode, *reduced(found, mode, flink, Tvfsql(spark))), flush=True)


def titled(seed: int, mode: str, script: Situation, verdict: Verdict) -> str:
    return f"-- seed {seed}, {mode}, {script.zone}: {verdict.kind}\n{shown(script)}\n{verdict.details}\n"


if __name__ == "__main__":
    main()
