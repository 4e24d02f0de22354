-- The sum of all is over what the first INSERT reads, and so is computed from it.
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO screen SELECT item, COUNT(*) AS n FROM bid GROUP BY item;
    INSERT INTO nowhere SELECT 'all', SUM(n) FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item);
    INSERT INTO nowhere SELECT item, 1 FROM bid;
END;
SET 'table.optimizer.reuse-sub-plan-enabled' = 'false';
EXPLAIN PHYSICAL EXECUTE STATEMENT SET BEGIN
    INSERT INTO screen SELECT item, COUNT(*) AS n FROM bid GROUP BY item;
    INSERT INTO nowhere SELECT item, COUNT(*) AS n FROM bid GROUP BY item;
END;
