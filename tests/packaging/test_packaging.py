"""The wheel: it holds every file, and what is installed from it works in another folder."""

from __future__ import annotations

import email
import os
import re
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LINK = "120000"  # git's mode of a symbolic link
QUERY = """
CREATE TABLE bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tvfsql alone, installed from the wheel; its dependencies are those of this Python."""
    folder = tmp_path_factory.mktemp("site")
    python("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(folder), str(wheel))
    return folder


def python(*arguments: str, cwd: Path | None = None, path: Path | None = None, text: str = "") -> str:
    """What Python prints; a failure shows what it complained about."""
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> set[str]:
    """Every file of the three folders that git knows, under the name that it has in the wheel."""
    listing = subprocess.run(
        ["git", "ls-files", "--stage", "tvfsql", "rules", "grammar"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    entries = (line.split("\t") for line in listing.stdout.splitlines())
    names = {name for stage, name in entries if not stage.startswith(LINK)}
    return {name if name.startswith("tvfsql/") else f"tvfsql/{name}" for name in names}


def test_the_wheel_holds_every_tracked_file_and_no_rubbish(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert tracked() <= held
    assert {"tvfsql/rules/__init__.py", "tvfsql/grammar/__init__.py", "tvfsql/py.typed"} <= held
    assert any(name.startswith("tvfsql/grammar/") and name.endswith(".lark") for name in held)
    assert not [name for name in held if "__pycache__" in name or name.endswith((".pyc", "~"))]


def test_the_wheel_holds_the_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (license_,) = (name for name in files.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        assert files.read(license_) == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_has_no_links_and_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        kinds = {stat.S_IFMT(entry.external_attr >> 16) for entry in file.infolist()}
        (about,) = (name for name in file.namelist() if name.endswith("METADATA"))
        metadata = email.message_from_bytes(file.read(about))
    assert kinds <= {0, stat.S_IFREG}
    required = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert not [each for each in required if re.match("prompt-toolkit|pygments|plotext|psycopg|fastavro", each)]
    python = [each.rpartition(" ")[2] for each in metadata.get_all("Classifier", []) if "Python :: 3." in each]
    assert python[0] == "3.11" and metadata["Requires-Python"] == ">=3.11" and metadata["License-Expression"]


def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    python("-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = (each for each in tmp_path.iterdir() if each.is_dir())
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(folder))
    (made,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as one, zipfile.ZipFile(wheel) as other:
        assert {(each.filename, each.CRC) for each in one.infolist()} == {
            (each.filename, each.CRC) for each in other.infolist()
        }


def test_make_links_what_an_sdist_has_no_links_to() -> None:
    links = {each.name for each in (ROOT / "tvfsql").iterdir() if each.is_symlink()}
    loop = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "ln -s ../$$each" in line)
    assert not links or f"for each in {' '.join(sorted(links, reverse=True))};" in loop


def test_what_is_installed_does_not_come_from_the_checkout(site: Path, tmp_path: Path) -> None:
    program = "import tvfsql, tvfsql.rules; print(tvfsql.__file__); print(tvfsql.rules.__file__)"
    for file in python("-c", program, cwd=tmp_path, path=site).splitlines():
        assert Path(file).is_relative_to(site)


def test_the_installed_command_explains_from_another_folder(site: Path, tmp_path: Path) -> None:
    command = str(site / "bin" / "tvfsql")
    (tmp_path / "query.sql").write_text(QUERY)
    from_file = python(command, "explain", "query.sql", cwd=tmp_path, path=site)
    assert "WindowAggregate" in from_file
    assert python(command, "explain", "-", cwd=tmp_path, path=site, text=QUERY) == from_file
    assert python(command, "explain", "-e", QUERY, cwd=tmp_path, path=site) == from_file
