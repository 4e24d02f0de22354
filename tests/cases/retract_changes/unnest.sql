-- expect: push_unnest_below_window retract_changes
SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE posts (op STRING, tags ARRAY<STRING>, likes INT, changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'data/posts', 'format' = 'json', 'changelog.op' = 'op');

SELECT window_start, window_end, tag, COUNT(*) AS n, SUM(likes) AS likes
FROM TABLE(TUMBLE(TABLE posts, DESCRIPTOR(changed), INTERVAL '1' MINUTE))
CROSS JOIN UNNEST(tags) AS t (tag)
GROUP BY window_start, window_end, tag;
