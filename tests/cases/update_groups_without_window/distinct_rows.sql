-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT DISTINCT item, price FROM bid;
