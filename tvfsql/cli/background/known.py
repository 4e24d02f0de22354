"""The checkpoints of runs in the background that this user has started, by name."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from tvfsql.cli.background.runs import FILE
from tvfsql.errors import DataError, did_you_mean
from tvfsql.folders import state_folder


def know(checkpoint: Path) -> None:
    """Remember a checkpoint. Raises OSError."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / sha256(str(checkpoint).encode()).hexdigest()[:16]).write_text(f"{checkpoint}\n", encoding="utf-8")


def known() -> list[Path]:
    """The checkpoints, by name. One that was deleted is forgotten."""
    found = []
    with suppress(OSError):
        for entry in _folder().iterdir():
            checkpoint = Path(entry.read_text(encoding="utf-8").rstrip("\n"))
            if (checkpoint / FILE).exists():
                found.append(checkpoint)
            elif not checkpoint.exists():
                entry.unlink()
    return sorted(found, key=lambda each: (each.name, str(each)))


def named(name: str) -> Path:
    """The checkpoint with that name or path. Raises DataError unless exactly one is found."""
    if (Path(name) / FILE).exists():
        return Path(name).resolve()
    every = known()
    found = [each for each in every if each.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(f"{len(found)} runs are named {name}", hint=f"say their checkpoint, such as {found[0]}")
    hint = did_you_mean(name, [each.name for each in every]) or "tvfsql ps lists them"
    raise DataError(f"there is no run {name} in the background", hint=hint)


def _folder() -> Path:
    return state_folder() / "runs"
