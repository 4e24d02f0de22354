-- TABLE t is short for SELECT * FROM t, wherever a query may be.
CREATE VIEW people AS TABLE person;
SELECT name FROM (TABLE people UNION ALL TABLE `person`);
TABLE auction;
