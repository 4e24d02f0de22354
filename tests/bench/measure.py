"""Engines in turn over one case; their answers are compared before anything is timed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.cases import Case
from tests.bench.data import Bids
from tests.bench.engines import Engine, Totals
from tests.bench.processes import cpu_seconds

DISTINCT_SHARE = 100  # the part of the keys over which counts of distinct values are checked


@dataclass(frozen=True)
class Answer:
    """The totals of an engine over the rows of `keys` keys, and whether tvfsql's over the same rows are equal."""

    engine: str
    keys: int
    totals: Totals
    agrees: bool


@dataclass(frozen=True)
class Timed:
    """What an engine took. With a `share` above 1 it ran over that part of the keys: what it takes before the
    first row (planning, generated code) counts once, all else `share` times. Pairs are (seconds, cpu seconds)."""

    engine: str
    rows: int
    share: int
    pairs: tuple[tuple[float, float], ...]
    before: tuple[float, float] = (0.0, 0.0)

    @property
    def runs(self) -> tuple[float, ...]:
        return tuple(seconds for seconds, _ in self.pairs)

    @property
    def seconds(self) -> float:
        return self._scaled(median(self.runs), self.before[0])

    @property
    def cpu(self) -> float:
        return self._scaled(median(cpu for _, cpu in self.pairs), self.before[1])

    @property
    def spread(self) -> tuple[float, float]:
        return self._scaled(min(self.runs), self.before[0]), self._scaled(max(self.runs), self.before[0])

    @property
    def per_million_rows(self) -> float:
        return self.seconds / self.rows * 1e6

    def _scaled(self, seen: float, before: float) -> float:
        return before + max(0.0, seen - before) * self.share


@dataclass(frozen=True)
class Bench:
    """tvfsql and the others over one set of rows. Where tvfsql is timed alone, the last of the others checks it over
    one `check_share`th of the keys."""

    bids: Bids
    tvfsql: Engine
    others: Sequence[Engine]
    repeats: int
    check_share: int = DISTINCT_SHARE

    def answers(self, case: Case) -> Iterator[Answer]:
        """Every engine's totals, tvfsql's first. They are the warm-up too: the rows are those that are timed."""
        if case.alone:
            checked = {self.others[-1]: self._keys(self.check_share)}
        else:
            checked = {engine: self._keys(self._share(engine, case)) for engine in self.others}
        wanted = {keys: self._totals(self.tvfsql, case, keys) for keys in {self.bids.keys, *checked.values()}}
        for keys, totals in sorted(wanted.items(), reverse=True):
            yield Answer(self.tvfsql.name, keys, totals, True)
        for engine, keys in checked.items():
            totals = self._totals(engine, case, keys)
            yield Answer(engine.name, keys, totals, totals == wanted[keys])

    def timed(self, case: Case, answers: Sequence[Answer]) -> Iterator[Timed]:
        """The engines by turns, `repeats` times."""
        engines = [self.tvfsql] if case.alone else [self.tvfsql, *self.others]
        shares = {engine: self._share(engine, case) for engine in engines}
        before = {engine: _time(engine, case, self.bids.few()) for engine in engines if shares[engine] > 1}
        pairs: dict[Engine, list[tuple[float, float]]] = {engine: [] for engine in engines}
        for _ in range(self.repeats):
            for engine in engines:
                pairs[engine].append(_time(engine, case, self.bids.part(self._keys(shares[engine]))))
        for engine in engines:
            rows = next(each.totals.rows for each in answers if each.engine == engine.name)
            share = shares[engine]
            yield Timed(engine.name, rows * share, share, tuple(pairs[engine]), before.get(engine, (0.0, 0.0)))

    def _totals(self, engine: Engine, case: Case, keys: int) -> Totals:
        return engine.totals(case, self.bids.part(keys))

    def _keys(self, share: int) -> int:
        return max(1, self.bids.keys // share)

    def _share(self, engine: Engine, case: Case) -> int:
        """The engine's, unless there are not so many keys to share."""
        return self.bids.keys // self._keys(engine.share(case, self.bids.rows))


def _time(engine: Engine, case: Case, file: str) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), cpu_seconds()
    engine.run(case, file)
    return time.perf_counter() - clock, cpu_seconds() - cpu
