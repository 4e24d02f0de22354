"""Where a stream starts, in the words of Flink's START_MODE: at its checkpoint, or at a place in its sources.

Source: Flink's FLIP-557, for its materialized tables. RESUME alone is ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

WORDS = re.compile(
    r"\s*(?:(?P<resume>RESUME)(?:_OR_(?=FROM)|(?=\s*$)))?(?:FROM_(?P<place>BEGINNING|NOW|TIMESTAMP))?"
    r"(?:\s*\(\s*(?:TIMESTAMP\s*)?'(?P<time>[^']*)'\s*\))?\s*",
    re.IGNORECASE,
)


class Place(Enum):
    """A place in the sources of a stream."""

    BEGINNING = "BEGINNING"
    NOW = "NOW"
    TIMESTAMP = "TIMESTAMP"


@dataclass(frozen=True)
class StartMode:
    """`resumes`: from the checkpoint, if there is one. Without one the stream starts at `place`; None: it must resume.
    `time` is that of FROM_TIMESTAMP, in epoch ms.
    """

    resumes: bool = True
    place: Place | None = Place.BEGINNING
    time: int | None = None

    def __str__(self) -> str:
        if self.place is None:
            return "RESUME"
        time = ""
        if self.time is not None:
            at = datetime.fromtimestamp(self.time / 1000, UTC).replace(tzinfo=None)
            time = f"(TIMESTAMP '{at.isoformat(' ', 'milliseconds')}')"
        return f"{'RESUME_OR_' if self.resumes else ''}FROM_{self.place.value}{time}"


USUAL = StartMode()
EXAMPLES = ("RESUME", *(f"{resume}FROM_{at}" for resume in ("", "RESUME_OR_") for at in ("BEGINNING", "NOW")))


def start_mode(text: str) -> StartMode | None:
    """Parse a start mode; None if the text is not one. A time without a zone is in UTC."""
    found = WORDS.fullmatch(text)
    if found is None or not (found["resume"] or found["place"]):
        return None
    place = Place(found["place"].upper()) if found["place"] else None
    if (place is Place.TIMESTAMP) != (found["time"] is not None):
        return None
    if found["time"] is None:
        return StartMode(bool(found["resume"]), place)
    try:
        time = datetime.fromisoformat(found["time"].strip())
    except ValueError:
        return None
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return StartMode(bool(found["resume"]), place, round(time.timestamp() * 1000))
