"""Nexmark's queries, in the SQL that tvfsql and Flink share, and in Spark's own SQL where it can express them."""

from __future__ import annotations

from dataclasses import dataclass

WATERMARK_DELAY = 4  # seconds

HOP_COUNTS = """
    SELECT window_start, window_end, auction, COUNT(*) AS num
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY window_start, window_end, auction
"""
SPARK_HOP_COUNTS = """
    SELECT window, auction, COUNT(*) AS num FROM bid
    GROUP BY window(dateTime, '10 seconds', '2 seconds'), auction
"""
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(`{}`), INTERVAL '10' SECOND))"
BY_BID, BY_PERSON, BY_AUCTION = (TUMBLE.format(table, "dateTime") for table in ("bid", "person", "auction"))
BY_ARRIVAL = TUMBLE.format("bid", "p_time")


@dataclass(frozen=True)
class Query:
    """A query and the columns of its result. `spark` is "" where Spark has no such query on streams. With `clock` its
    rows depend on when its input arrives. This column of counts then adds up to the number of input rows. With a `key`
    its results change with each row, and these columns identify one. It `decides` them and these columns; which of
    several equal bids is at its place is open. The `suite` of those with patterns is "cep-". With `retained` it joins
    `tables` without time bounds: tvfsql keeps their rows for a day, Flink for ever."""

    number: int
    title: str
    columns: str
    sql: str
    spark: str = ""
    clock: str = ""
    suite: str = ""
    key: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()
    tables: tuple[str, ...] = ("bid",)
    retained: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """What tvfsql must be told to run it."""
        return {"table.exec.state.ttl": "1 d"} if self.retained else {}

    @property
    def name(self) -> str:
        return f"nexmark-{self.suite}q{self.number}"


DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"
PRICES = {"rank1": "price < 10000", "rank2": "price >= 10000 AND price < 1000000", "rank3": "price >= 1000000"}


def of_prices(call: str, name: str) -> str:
    """A call over all rows, and over those of each range of prices."""
    parts = (f"{call} FILTER (WHERE {condition}) AS {rank}_{name}" for rank, condition in PRICES.items())
    return ", ".join((f"{call} AS total_{name}", *parts))


def counts_of_prices(*names: str) -> str:
    """The columns of those calls."""
    return ", ".join(f"{rank}_{name} BIGINT" for name in names for rank in ("total", *PRICES))


COUNTS = ", ".join(
    (
        of_prices("COUNT(*)", "bids"),
        of_prices("COUNT(DISTINCT bidder)", "bidders"),
        of_prices("COUNT(DISTINCT auction)", "auctions"),
    )
)
COUNTED = counts_of_prices("bids", "bidders", "auctions")
BID = "auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING"
BID_WITH_URL = BID.replace("price BIGINT", "price BIGINT, channel STRING, url STRING")
WINDOW = "window_start TIMESTAMP(3), window_end TIMESTAMP(3)"
SPARK_WINDOW = "window.start AS window_start, window.end AS window_end"

QUERIES = (
    Query(
        0,
        "rows as they are",
        BID,
        "SELECT auction, bidder, price, `dateTime`, extra FROM bid",
        "SELECT auction, bidder, price, dateTime, extra FROM bid",
    ),
    Query(
        1,
        "prices in another currency",
        "auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), `dateTime` TIMESTAMP(3), extra STRING",
        "SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid",
        "SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid",
    ),
    Query(
        2,
        "bids on some auctions",
        "auction BIGINT, price BIGINT",
        "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
        "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
    ),
    Query(
        3,
        "persons of three states who sell in a category",
        "name STRING, city STRING, state STRING, id BIGINT",
        """
        SELECT p.name, p.city, p.state, a.id FROM auction AS a JOIN person AS p ON a.seller = p.id
        WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA')
        """,
        tables=("person", "auction"),
        retained=True,
    ),
    Query(
        4,
        "the average closing price of a category",
        "category BIGINT, average BIGINT",
        """
        SELECT category, AVG(final) AS average FROM (
            SELECT MAX(b.price) AS final, a.category FROM auction AS a, bid AS b
            WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires GROUP BY a.id, a.category)
        GROUP BY category
        """,
        key=("category",),
        tables=("auction", "bid"),
        retained=True,
    ),
    Query(
        5,
        "auctions with most bids, HOP 2 s/10 s",
        f"{WINDOW}, auction BIGINT, num BIGINT",
        f"""
        SELECT b.window_start, b.window_end, b.auction, b.num
        FROM ({HOP_COUNTS}) AS b
        JOIN (SELECT window_start, window_end, MAX(num) AS num FROM ({HOP_COUNTS}) GROUP BY window_start, window_end)
            AS most
        ON b.window_start = most.window_start AND b.window_end = most.window_end AND b.num = most.num
        """,
        f"""
        SELECT b.window.start AS window_start, b.window.end AS window_end, b.auction, b.num
        FROM ({SPARK_HOP_COUNTS}) AS b
        JOIN (SELECT window(window, '2 seconds') AS last, MAX(num) AS num FROM ({SPARK_HOP_COUNTS})
              GROUP BY window(window, '2 seconds')) AS most
        ON b.window.end = most.last.end AND b.num = most.num
        """,
    ),
    Query(
        7,
        "highest bid, TUMBLE 10 s",
        f"{WINDOW}, auction BIGINT, bidder BIGINT, price BIGINT",
        f"""
        SELECT b.window_start, b.window_end, b.auction, b.bidder, b.price
        FROM {BY_BID} AS b
        JOIN (SELECT window_start, window_end, MAX(price) AS price FROM {BY_BID} GROUP BY window_start, window_end) AS h
        ON b.window_start = h.window_start AND b.window_end = h.window_end AND b.price = h.price
        """,
        f"""
        SELECT b.{SPARK_WINDOW.replace(", window", ", b.window")}, b.auction, b.bidder, b.price
        FROM (SELECT window(dateTime, '10 seconds') AS window, auction, bidder, price FROM bid) AS b
        JOIN (SELECT window, MAX(price) AS price FROM bid GROUP BY window(dateTime, '10 seconds')) AS h
        ON b.window = h.window AND b.price = h.price
        """,
    ),
    Query(
        8,
        "new persons who sell, join of TUMBLE 10 s",
        f"{WINDOW}, id BIGINT, name STRING",
        f"""
        SELECT p.window_start, p.window_end, p.id, p.name
        FROM (SELECT window_start, window_end, id, name FROM {BY_PERSON}
              GROUP BY window_start, window_end, id, name) AS p
        JOIN (SELECT window_start, window_end, seller FROM {BY_AUCTION}
              GROUP BY window_start, window_end, seller) AS a
        ON p.window_start = a.window_start AND p.window_end = a.window_end AND p.id = a.seller
        """,
        tables=("person", "auction"),
        # none of Spark's: its join of two aggregates lost 618 of 8,228 rows, of the windows at the end of the input
    ),
    Query(
        11,
        "bids per bidder, SESSION 10 s",
        f"{WINDOW}, bidder BIGINT, num BIGINT",
        """
        SELECT window_start, window_end, bidder, COUNT(*) AS num
        FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end, bidder
        """,
        # Spark parts rows that are exactly the gap apart
        """
        SELECT session_window.start AS window_start, session_window.end - INTERVAL 1 MICROSECOND AS window_end,
            bidder, COUNT(*) AS num
        FROM bid GROUP BY session_window(dateTime, '10 seconds 1 microsecond'), bidder
        """,
    ),
    Query(
        12,
        "bids per bidder, TUMBLE 10 s of processing time",
        f"{WINDOW}, bidder BIGINT, num BIGINT",
        f"""
        SELECT window_start, window_end, bidder, COUNT(*) AS num FROM {BY_ARRIVAL}
        GROUP BY window_start, window_end, bidder
        """,
        clock="num",
    ),
    Query(
        14,
        "bids of a range of prices, with the time of day and a count of letters",
        f"{BID.replace('price BIGINT', 'price DECIMAL(23, 3)')}, time_type STRING, c_counts BIGINT",
        """
        SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra,
            CASE WHEN HOUR(`dateTime`) BETWEEN 8 AND 18 THEN 'day'
                WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'night' ELSE 'other' END AS time_type,
            CAST(CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS BIGINT) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
        """,
        """
        SELECT auction, bidder, 0.908 * price AS price, dateTime, extra,
            CASE WHEN HOUR(dateTime) BETWEEN 8 AND 18 THEN 'day'
                WHEN HOUR(dateTime) <= 6 OR HOUR(dateTime) >= 20 THEN 'night' ELSE 'other' END AS time_type,
            CAST(CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS BIGINT) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
        """,
    ),
    Query(
        15,
        "bids, bidders and auctions of a day, by ranges of prices",
        f"`day` STRING, {COUNTED}",
        f"SELECT {DAY} AS `day`, {COUNTS} FROM bid GROUP BY {DAY}",
        # none of Spark's: it rejects DISTINCT on streams
        key=("day",),
    ),
    Query(
        16,
        "bids, bidders and auctions of a channel and day, by ranges of prices",
        f"channel STRING, `day` STRING, `minute` STRING, {COUNTED}",
        f"""
        SELECT channel, {DAY} AS `day`, MAX(DATE_FORMAT(`dateTime`, 'HH:mm')) AS `minute`, {COUNTS}
        FROM bid GROUP BY channel, {DAY}
        """,
        key=("channel", "day"),
    ),
    Query(
        17,
        "bids and prices of an auction and day",
        f"auction BIGINT, `day` STRING, {counts_of_prices('bids')}, min_price BIGINT, max_price BIGINT,"
        " avg_price BIGINT, sum_price BIGINT",
        f"""
        SELECT auction, {DAY} AS `day`, {of_prices("COUNT(*)", "bids")}, MIN(price) AS min_price,
            MAX(price) AS max_price, AVG(price) AS avg_price, SUM(price) AS sum_price
        FROM bid GROUP BY auction, {DAY}
        """,
        f"""
        SELECT auction, {DAY} AS `day`, {of_prices("COUNT(*)", "bids")}, MIN(price) AS min_price,
            MAX(price) AS max_price, SUM(price) DIV COUNT(price) AS avg_price, SUM(price) AS sum_price
        FROM bid GROUP BY auction, {DAY}
        """,
        key=("auction", "day"),
    ),
    Query(
        18,
        "the last bid of a bidder on an auction",
        BID_WITH_URL,
        """
        SELECT auction, bidder, price, channel, url, `dateTime`, extra
        FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number
              FROM bid)
        WHERE rank_number <= 1
        """,
        key=("bidder", "auction"),
        decides=("dateTime",),
    ),
    Query(
        19,
        "the ten highest bids of an auction",
        f"{BID_WITH_URL}, rank_number BIGINT",
        """
        SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid)
        WHERE rank_number <= 10
        """,
        key=("auction", "rank_number"),
        decides=("price",),
    ),
    Query(
        20,
        "bids with their auctions, of a category",
        f"{BID_WITH_URL}, item STRING, reserve BIGINT, seller BIGINT",
        """
        SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.`dateTime`, b.extra, a.itemName, a.reserve, a.seller
        FROM bid AS b JOIN auction AS a ON b.auction = a.id WHERE a.category = 10
        """,
        tables=("auction", "bid"),
        retained=True,
    ),
    Query(
        21,
        "channels with ids",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, channel_id STRING",
        r"""
        SELECT auction, bidder, price, channel,
            CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'google' THEN '1'
                WHEN LOWER(channel) = 'facebook' THEN '2' WHEN LOWER(channel) = 'baidu' THEN '3'
                ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
        FROM bid
        WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
            OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
        """,
        r"""
        SELECT auction, bidder, price, channel,
            CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'google' THEN '1'
                WHEN LOWER(channel) = 'facebook' THEN '2' WHEN LOWER(channel) = 'baidu' THEN '3'
                ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
        FROM bid
        WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) <> ''
            OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
        """,
    ),
    Query(
        22,
        "parts of URLs",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, dir1 STRING, dir2 STRING, dir3 STRING",
        """
        SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1, SPLIT_INDEX(url, '/', 4) AS dir2,
            SPLIT_INDEX(url, '/', 5) AS dir3
        FROM bid
        """,
        """
        SELECT auction, bidder, price, channel, GET(SPLIT(url, '/'), 3) AS dir1, GET(SPLIT(url, '/'), 4) AS dir2,
            GET(SPLIT(url, '/'), 5) AS dir3
        FROM bid
        """,
    ),
)
PATTERN = """
    SELECT * FROM bid MATCH_RECOGNIZE (
        PARTITION BY auction, bidder ORDER BY `dateTime` MEASURES {}
        ONE ROW PER MATCH AFTER MATCH SKIP {} PATTERN {} DEFINE {}
    )
"""
OF_BIDDER = "auction BIGINT, bidder BIGINT"
MEAN = "FIRST(A.`dateTime`) AS starts, LAST(A.`dateTime`) AS ends, AVG(A.price) AS mean"
CEP = tuple(
    Query(number, title, f"{OF_BIDDER}, {columns}", PATTERN.format(*clauses), suite="cep-")
    for number, (title, columns, *clauses) in enumerate(
        (
            (
                "prices of a bidder that fall, and rise again",
                "starts TIMESTAMP(3), lowest TIMESTAMP(3), ends TIMESTAMP(3)",
                "S.`dateTime` AS starts, LAST(D.`dateTime`) AS lowest, LAST(U.`dateTime`) AS ends",
                "TO LAST U",
                "(S D+ U)",
                "D AS (LAST(D.price, 1) IS NULL AND D.price < S.price) OR D.price < LAST(D.price, 1),"
                " U AS U.price > LAST(D.price, 1)",
            ),
            *(
                (
                    f"as long as the average of a bidder's prices is below a limit, {skip}",
                    "starts TIMESTAMP(3), ends TIMESTAMP(3), mean BIGINT",
                    MEAN,
                    skip,
                    "(A+ B)",
                    "A AS AVG(A.price) < 10000",
                )
                for skip in ("PAST LAST ROW", "TO NEXT ROW")
            ),
            (
                "a price that drops by more than 50 within 5 seconds",
                "dropped TIMESTAMP(3), lower BIGINT",
                "C.`dateTime` AS dropped, A.price - C.price AS lower",
                "PAST LAST ROW",
                "(A B* C) WITHIN INTERVAL '5' SECOND",
                "B AS B.price > A.price - 50, C AS C.price < A.price - 50",
            ),
        )
    )
)
# no streams of tvfsql, or not measured
NOT_OURS = {
    6: "WHERE within the SELECT that makes its column, which Flink does not run either",
    9: "not measured: Flink writes its updates without the rows that they replace",
    10: "not measured: it writes partitioned files",
    13: "not measured: a lookup join",
}
