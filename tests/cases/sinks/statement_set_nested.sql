-- Two INSERTs share a top ten; a third one reads what it is made of. What a table is read for that is written is not shared.
CREATE VIEW counts AS SELECT item, COUNT(*) AS n FROM bid GROUP BY item;
CREATE VIEW most AS SELECT item, n FROM counts ORDER BY n DESC LIMIT 10;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO screen SELECT item, n FROM most;
    INSERT INTO nowhere SELECT item, n FROM most WHERE n > 5;
    INSERT INTO nowhere SELECT item, n + 1 FROM counts;
    INSERT INTO nowhere SELECT item, COUNT(*) AS n FROM totals GROUP BY item;
    INSERT INTO totals SELECT TIMESTAMP '2020-01-01 00:00:00', item, COUNT(*) AS n FROM totals GROUP BY item;
END;
