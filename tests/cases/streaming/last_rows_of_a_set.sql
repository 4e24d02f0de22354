-- A table by key has last rows at once, also beside others that only add rows.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
CREATE TABLE latest (item STRING, price DECIMAL(10, 2), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'latest');
CREATE TABLE cheap (item STRING, price DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'out/cheap', 'format' = 'json');
CREATE TABLE dear (item STRING, price DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'out/dear', 'format' = 'json');
CREATE VIEW last_bids AS SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) = 1;
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO latest SELECT item, price FROM last_bids;
    INSERT INTO cheap SELECT item, price FROM last_bids WHERE price < 10;
    INSERT INTO dear SELECT item, price FROM last_bids WHERE price > 100;
END;
