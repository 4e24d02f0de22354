-- expect-not: aggregate_distinct_windows
SELECT DISTINCT item, price FROM bid;
