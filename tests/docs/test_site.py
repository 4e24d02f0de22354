"""The site builds without network and without a broken link, and its files load nothing from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.pages import ROOT, pages


def test_each_page_is_in_the_navigation() -> None:
    class Loader(yaml.SafeLoader):
        """Skips the tags of Python objects."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)
    config = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    listed = set(re.findall(r"[\w/-]+\.md", str(config["nav"])))
    assert {page.removeprefix("docs/") for page in pages() if page.startswith("docs/")} <= listed


@pytest.mark.slow
def test_the_site_is_built_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r"<(?:script|img|link)\b[^>]*?(?:src|href)=[\"']?(https?://[^\"' >]+)")
    for page in tmp_path.rglob("*.html"):
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"] if "SESSION" in entry["text"]}
    assert {"sql/sessions.html", "cookbook.html"} <= found
    assert "Raises BindError" in (tmp_path / "api.html").read_text(encoding="utf-8")
