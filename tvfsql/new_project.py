"""What `tvfsql init` makes: a script over a small table, its data, and a test that runs it."""

from __future__ import annotations

from pathlib import Path

from tvfsql.errors import DataError

FILES = {
    "bids.sql": """\
-- The table of all scripts here: tvfsql -i bids.sql opens the shell with it.
CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    price   DECIMAL(10, 2),
    item    STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'data/bids.csv',
    'format' = 'csv'
);
""",
    "totals.sql": """\
-- Totals of ten minutes: tvfsql run -i bids.sql totals.sql
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
ORDER BY window_start, item;
""",
    "data/bids.csv": """\
2020-04-15 08:05:00,4.00,A
2020-04-15 08:07:00,2.00,A
2020-04-15 08:09:00,5.00,B
2020-04-15 08:11:00,3.00,A
2020-04-15 08:13:00,1.00,B
2020-04-15 08:17:00,6.00,B
""",
    "test_totals.py": '''\
"""Run it with pytest."""

from decimal import Decimal
from pathlib import Path

import tvfsql

HERE = Path(__file__).parent


def test_totals() -> None:
    with tvfsql.Session() as session:
        session.execute((HERE / "bids.sql").read_text(), file=str(HERE / "bids.sql"))
        *_, totals = session.execute((HERE / "totals.sql").read_text())
        found = [(row.window_end.minute, row.item, row.total) for row in totals]
    assert found == [
        (10, "A", Decimal("6.00")),
        (10, "B", Decimal("5.00")),
        (20, "A", Decimal("3.00")),
        (20, "B", Decimal("7.00")),
    ]
''',
}


def new_project(folder: str) -> list[Path]:
    """Write the files, and return them. Raises DataError if one exists, before any is written."""
    targets = {Path(folder, name): text for name, text in FILES.items()}
    for target in targets:
        if target.exists():
            raise DataError(f"{target} exists", hint="tvfsql init another_folder")
    try:
        for target, text in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror}") from error
    return [*targets]
