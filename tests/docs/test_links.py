"""What documentation and code refer to exists: pages, their sections, and the sections that code cites."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.support.pages import ROOT, pages

PAGES = [*pages(), "docs/rules.md"]
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\b(semantics|architecture|glossary|time|cli)\.md(?:#([\w-]+))?")
CITING = ("*.py", "*.sql", "*.lark", "*.toml")


@cache
def sections(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    slugs: Counter[str] = Counter()
    found = []
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.append(f"{slug}-{slugs[slug]}" if slugs[slug] else slug)
        slugs[slug] += 1
    return frozenset(found)


def links(page: str) -> list[str]:
    """The targets of a page's links within the repository."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [target for target in LINK.findall(text) if "://" not in target]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_sections_that_exist(page: str) -> None:
    for target in links(page):
        path, _, section = target.partition("#")
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), target
        assert not section or section in sections(found), target


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, new = set[Path](), {ROOT / "README.md"}
    while new:
        reached |= new
        of_these = {(page.parent / link.partition("#")[0]).resolve() for page in new for link in links(str(page))}
        new = {page for page in of_these if page.suffix == ".md"} - reached
    assert {ROOT / page for page in PAGES} <= reached


def test_sections_that_code_cites_exist() -> None:
    listed = subprocess.run(["git", "ls-files", *CITING], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    cited = [
        (name, page, section)
        for name in listed.splitlines()
        if not (ROOT / name).is_symlink() and Path(name) != Path(__file__).relative_to(ROOT)
        for page, section in CITED.findall((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert cited
    for name, page, section in cited:
        if page == "semantics":
            assert section, f"{name}: which section of semantics.md?"
        assert not section or section in sections(ROOT / "docs" / f"{page}.md"), f"{name}: {page}.md#{section}"


def test_headings_make_the_anchors_that_github_makes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A, B: `c_d`\n```\n# no heading\n```\n## Top-N\n## Top-N\n", encoding="utf-8")
    assert sections(page) == {"a-b-c_d", "top-n", "top-n-1"}


def test_files_that_architecture_names_exist() -> None:
    """Those with a folder: `plan/window.py` is below tvfsql/, `rules/distinct.py` at the top."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", text)
    assert named
    assert [name for name in named if not ((ROOT / name).exists() or (ROOT / "tvfsql" / name).exists())] == []


def test_files_that_the_table_of_the_runtime_names_are_in_their_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `([a-z/_]+)` \|(.*)\|$", text, re.MULTILINE)
    named = [
        ROOT / "tvfsql" / "runtime" / room / name for room, row in rooms for name in re.findall(r"`(\w+\.py)`", row)
    ]
    assert named
    assert [str(path) for path in named if not path.exists()] == []
    listed = {path.parent for path in (ROOT / "tvfsql" / "runtime").rglob("__init__.py")}
    assert {ROOT / "tvfsql" / "runtime" / room for room, _ in rooms} | {
        ROOT / "tvfsql/runtime",
        ROOT / "tvfsql/runtime/stream",
    } == listed
