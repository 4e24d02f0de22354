"""One option: a key, a reader of its text, a default, and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tvfsql.options.readers import Reader, flag, zone
from tvfsql.plan.values.zone_names import regions

T = TypeVar("T")


@dataclass(frozen=True)
class Option(Generic[T]):
    """A known key. `read` parses its value from text; `default` is such a text."""

    key: str
    read: Reader[T]
    default: str
    doc: str

    @property
    def words(self) -> Sequence[str]:
        """Its possible values, if they are few: words, or zones."""
        if self.read is zone:
            return sorted(regions())
        return ("true", "false") if self.read is flag else getattr(self.read, "words", ())
