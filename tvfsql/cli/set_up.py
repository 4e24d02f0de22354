"""Commands about the machine and the installation: doctor, completion, and `--version`."""

from __future__ import annotations

import argparse

from tvfsql.cli.exits import Exit
from tvfsql.cli.scripts import planning_session


def doctor(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.runtime.cluster.asked import MASTER, REMOTE, is_local, requested
    from tvfsql.runtime.host.doctor import checks

    asked = requested(planning_session(given).options.spark)
    found = [*checks()]
    if REMOTE in asked or not is_local(asked.get(MASTER, "local")):
        from tvfsql.runtime.host.doctor import cluster_checks
        from tvfsql.runtime.local_spark.start import start_spark

        found += cluster_checks(start_spark(own=asked), given.checkpoint)
    width = max(len(check.name) for check in found)
    for check in found:
        print(f"{'ok  ' if check.ok else 'MISS'} {check.name:<{width}}  {check.found}")
        if check.hint and not check.ok:
            print(f"     {'':<{width}}  -> {check.hint}")
    return Exit.OK if all(check.ok for check in found) else Exit.ERROR


def completion(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.cli.completion import script

    print(script(parser, given.shell), end="")
    return Exit.OK


def versions() -> str:
    """Versions on one line. Only reads package metadata; does not import Spark."""
    from importlib import metadata

    def version(package: str) -> str:
        try:
            return f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            return f"{package} (not installed)"

    return f"{version('tvfsql')} ({version('pyspark')}, {version('sqlglot')})"
