"""What the parser does not understand is refused: no word that it takes is lost (tests/support/lost_words.py)."""

from __future__ import annotations

import random
import re
from itertools import islice

import pytest

from tests.support.examples import SOAK
from tests.support.lost_words import loses, places
from tvfsql import TvfSqlError, compile

PLACES = 20_000 if SOAK else 300


@pytest.mark.parametrize("seed", range(4))
def test_no_word_that_is_taken_is_lost(seed: int) -> None:
    lost = [sql for sql in islice(places(random.Random(seed)), PLACES // 4) if loses(sql)]
    assert not lost


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(zzq ts, INTERVAL '10' MINUTE)",
        "SELECT TUMBLE_END(`zzq`ts, INTERVAL '1' DAY) AS e FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.x AS x PATTERN (A) DEFINE A AS TRUE)(zzq)",
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.x AS x PATTERN (A) DEFINE A AS TRUE) AS m (x, 7707)",
        "SELECT * FROM zzq. TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))",
        "SELECT MOD(a, 3, zzq) AS m FROM t",
        "SELECT CEIL(a, 1, zzq) AS m FROM t",
    ],
)
def test_these_were_lost(sql: str) -> None:
    table = (
        "CREATE TABLE t (a INT, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"
    )
    with pytest.raises(TvfSqlError):
        compile(table + sql)
    compile(table + re.sub(r", (zzq|7707)(?=\))|\(zzq\)| `zzq`|`zzq`|zzq\.? ", "", sql))
