-- A row moves from one side of the UNION ALL to the other, which are different tasks.
-- expect: make_regular_join
CREATE TABLE asked (id BIGINT, bids STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'asked');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '30 d';
INSERT INTO asked
SELECT id, 'some' FROM auction AS a WHERE EXISTS (SELECT * FROM bid AS b WHERE b.item = a.item)
UNION ALL
SELECT id, 'none' FROM auction AS a WHERE NOT EXISTS (SELECT * FROM bid AS b WHERE b.item = a.item);
