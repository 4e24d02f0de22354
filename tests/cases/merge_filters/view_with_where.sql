-- expect: merge_filters
CREATE VIEW dear AS SELECT * FROM bid WHERE price > 100;
SELECT item FROM dear WHERE bidder = 7 AND price > 100;
