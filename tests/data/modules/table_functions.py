"""Table functions, for tests of LATERAL TABLE."""

from __future__ import annotations

from collections.abc import Iterator


def words(text: str | None) -> Iterator[tuple[str, int]]:
    for word in (text or "").split():
        yield word, len(word)


class Parts:
    def eval(self, text: str | None, separator: str) -> list[str]:
        return text.split(separator) if text else []


def wrong(text: str) -> Iterator[tuple[str, int]]:
    yield "a", "b"
