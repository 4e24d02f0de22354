-- Each row gives rows of its own, so a stream needs no state for them.
SET 'execution.runtime-mode' = 'streaming';
SELECT bidder, UPPER(tag) AS tag FROM bid CROSS JOIN UNNEST(ARRAY[item, 'b']) AS t (tag) WHERE bidder > 0;
