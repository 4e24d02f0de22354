-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO screen
SELECT CAST(n AS STRING), COUNT(*) FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) GROUP BY n;
