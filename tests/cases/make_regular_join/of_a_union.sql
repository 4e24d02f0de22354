-- expect: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
INSERT INTO screen
SELECT u.item, u.id + p.id FROM (SELECT item, seller AS id FROM auction UNION ALL SELECT item, bidder FROM bid) AS u
JOIN person AS p ON u.id = p.id;
