-- Nexmark's q3: both sides are kept for a day, also without times of their own.
-- expect: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT p.name, p.city, a.id FROM auction AS a JOIN person AS p ON a.seller = p.id WHERE a.item = 'lamp' AND p.city = 'OR' AND a.id > p.id;
