"""The process that uses a checkpoint: one at a time. A second one is refused, and names the first.

On a local or mounted disk the owner holds a lock, which the system releases when the process ends in any way. Other
file systems have no locks: there the owner's file is created only if there is none, and the owner writes a number into
it again and again. If the number stays the same for longer than that takes, the owner is gone, and another one takes
over.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace, Place

try:
    import fcntl
except ImportError:  # on Windows nothing is locked
    fcntl = None  # type: ignore[assignment]

FILE = "owner.json"
BEAT = 5.0  # seconds between two numbers of an owner
TRIES, MOMENT = (
    5,
    0.05,
)  # of locking, and seconds between: who looks whether a checkpoint is in use locks it for a moment
PATIENCE = 4 * BEAT  # an owner whose number stays the same for so long is gone

Release = Callable[[], None]


def own(folder: Place) -> Release:
    """Become the owner of a checkpoint. Returns a function that gives it back; it may be called again.

    Raises DataError if another process, or another stream of this one, owns it, and OSError.
    """
    folder.make()
    file = folder / FILE
    return _locked(file) if isinstance(file, LocalPlace) else _Beats(file).begin()


@contextmanager
def owned(folder: Place) -> Iterator[None]:
    """Own a checkpoint inside this block. Raises DataError and OSError as `own`."""
    release = own(folder)
    try:
        yield
    finally:
        release()


def refuse_in_use(folder: Place) -> None:
    """Raise DataError for a checkpoint with an owner, where a lock tells it at once."""
    file = folder / FILE
    if isinstance(file, LocalPlace) and file.exists():
        with suppress(OSError):  # which the stream will meet again
            _locked(file)()


def in_use(folder: Place, owner: str | None) -> DataError:
    """The error for a checkpoint with an owner; `owner` is the text in its file."""
    about = _read(owner)
    host, pid = about.get("host"), about.get("pid")
    here = host == socket.gethostname()
    names = "this process" if here and pid == os.getpid() else f"process {pid}{'' if here else f' on {host}'}"
    names = f"{names}, since {about.get('since')}" if about else "another process"
    return DataError(
        f"the checkpoint {folder} is in use by {names}",
        hint="stop that stream first; or use another --checkpoint",
    )


def _locked(file: LocalPlace) -> Release:
    opened = os.open(file.path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(opened)
        os.ftruncate(opened, 0)
        os.write(opened, _about().encode())
    except BlockingIOError:
        os.close(opened)
        raise in_use(file.parent, file.read()) from None
    except OSError:
        os.close(opened)
        raise

    held = [opened]

    def release() -> None:
        while held:
            os.close(held.pop())

    return release


def _lock(file: int) -> None:
    """Raises BlockingIOError if another process holds the lock."""
    for left in reversed(range(TRIES if fcntl is not None else 0)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if not left:
                raise
            time.sleep(MOMENT)


@dataclass
class _Beats:
    """The owner of a checkpoint on a file system without locks."""

    file: Place
    number: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    own: str = ""
    beating: threading.Thread | None = None

    def begin(self) -> Release:
        self.own = _about()
        if not self.file.create(self._text):
            self._take_over()
        self.beating = threading.Thread(target=self._beat, name="tvfsql-owner", daemon=True)
        self.beating.start()
        return self.release

    def _take_over(self) -> None:
        """Wait for a sign of life of the other owner."""
        seen, began = self._seen(), time.monotonic()
        while time.monotonic() - began < PATIENCE:
            time.sleep(BEAT / 5)
            if (now := self._seen()) != seen and now is not None:
                raise in_use(self.file.parent, now)
            if now is None:
                break
        else:
            self.file.delete()
        made = self.file.create(self._text)
        time.sleep(BEAT)  # others that took it for gone may have deleted this file: the last one stays
        if not made or (now := self._seen()) != self._text:
            raise in_use(self.file.parent, self._seen() if not made else now)

    def _beat(self) -> None:
        while not self.over.wait(BEAT):
            self.number += 1
            with suppress(OSError, DataError):  # a file system that cannot be reached for a while
                self.file.write(self._text, durable=False)

    def release(self) -> None:
        if not self.over.is_set():
            self.over.set()
            if self.beating is not None:  # a sign of life that is being written would come after the deletion
                self.beating.join(PATIENCE)
            with suppress(OSError, DataError):
                self.file.delete()

    def _seen(self) -> str | None:
        """The owner's file; None if it does not exist, or is being deleted."""
        try:
            return self.file.read()
        except (OSError, DataError):
            return None

    @property
    def _text(self) -> str:
        return json.dumps({**json.loads(self.own), "beat": self.number})


def since(folder: Place) -> float | None:
    """When the owner of a checkpoint began, in epoch seconds."""
    with suppress(ValueError, TypeError, OSError, DataError):
        begun = str(_read((folder / FILE).read()).get("since")).removesuffix(" UTC")
        return datetime.fromisoformat(begun).replace(tzinfo=UTC).timestamp()
    return None


def _about() -> str:
    since = datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "seconds")
    found = {"host": socket.gethostname(), "pid": os.getpid(), "since": f"{since} UTC", "token": token_hex(8)}
    return json.dumps(found)


def _read(text: str | None) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(text or "")
        return found if isinstance(found, dict) else {}
    return {}
