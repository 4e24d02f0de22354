CREATE VIEW v (a, b) AS SELECT item FROM bid;
