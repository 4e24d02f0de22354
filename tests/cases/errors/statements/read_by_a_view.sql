CREATE VIEW v AS SELECT price, item FROM bid;
ALTER TABLE bid DROP item;
SELECT price FROM v;
