"""What `tvfsql init` makes: a script over a small table, its data, and a test for `tvfsql test`."""

from __future__ import annotations

from pathlib import Path

from tvfsql.errors import DataError

FILES = {
    "totals.sql": """\
-- Totals of ten minutes: tvfsql run totals.sql
CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    price   DECIMAL(10, 2),
    item    STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'data/bids.csv',  -- beside this script
    'format' = 'csv'
);

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
ORDER BY window_start, item;
""",
    "totals.tvfsql.yaml": """\
# Run it with tvfsql test, or with pytest.
script: totals.sql
mode: batch
tests:
  - name: a row at the end of a window is in the next one
    steps:
      - rows:
          bid:
            - {bidtime: 2020-04-15 08:00:00, price: 4, item: A}
            - {bidtime: 2020-04-15 08:09:59.999, price: 2, item: A}
            - {bidtime: 2020-04-15 08:10:00, price: 3, item: A}
            - {bidtime: 2020-04-15 08:11:00, price: 5, item: B}
        expect:
          - {window_end: 2020-04-15 08:10:00, item: A, total: 6}
          - {window_end: 2020-04-15 08:20:00, item: A, total: 3}
          - {window_end: 2020-04-15 08:20:00, item: B, total: 5}
""",
    "data/bids.csv": """\
2020-04-15 08:05:00,4.00,A
2020-04-15 08:07:00,2.00,A
2020-04-15 08:09:00,5.00,B
2020-04-15 08:11:00,3.00,A
2020-04-15 08:13:00,1.00,B
2020-04-15 08:17:00,6.00,B
""",
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
