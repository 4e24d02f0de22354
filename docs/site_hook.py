"""What `mkdocs build` does to the pages, which are written for the repository.

Pages outside docs/ get a place in the site, links follow them there, and the words after ```sql, which tell tests how
to try a block, are dropped. A link to any other file outside docs/ leads to a copy of it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "report-a-vulnerability.md",
    "examples/README.md": "examples.md",
    "integrations/dbt/README.md": "dbt.md",
}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^()\s]+)(\))")
FENCE = re.compile(r"^```(\w+)[ ].*$", re.MULTILINE)
BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and the files that pages link to."""
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    for page in [*files.documentation_pages()]:
        for _, path in _targets(page.src_uri, (ROOT / _path(page.src_uri)).read_text(encoding="utf-8")):
            if path is not None and path not in PAGES and not path.startswith("docs/") and (ROOT / path).is_file():
                uri = _uri(path)
                if files.get_file_from_path(uri) is None:
                    files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with links within the site."""
    here = posixpath.dirname(page.file.src_uri)
    places = {target: _uri(path) for target, path in _targets(page.file.src_uri, markdown) if path is not None}

    def within(found: re.Match[str]) -> str:
        uri = places.get(found[2])
        if uri is None:
            return found[0]
        section = found[2].partition("#")[2]
        return f"{found[1]}{posixpath.relpath(uri, here or '.')}{'#' + section if section else ''}{found[3]}"

    parts = BLOCK.split(markdown)
    return "".join(FENCE.sub(r"```\1", part) if part.startswith("```") else LINK.sub(within, part) for part in parts)


def _targets(uri: str, markdown: str) -> list[tuple[str, str | None]]:
    """The links of a page, each with the path in the repository that it means; None for those elsewhere."""
    found: list[tuple[str, str | None]] = []
    folder = posixpath.dirname(_path(uri))
    for _, target, _ in LINK.findall(BLOCK.sub("", markdown)):
        path = target.partition("#")[0]
        elsewhere = not path or "://" in target or target.startswith("mailto:")
        found.append((target, None if elsewhere else posixpath.normpath(posixpath.join(folder, path))))
    return found


def _path(uri: str) -> str:
    """The path in the repository of a page of the site."""
    return next((path for path, at in PAGES.items() if at == uri), f"docs/{uri}")


def _uri(path: str) -> str:
    """The place in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{path}.txt" if path == "LICENSE" else path
