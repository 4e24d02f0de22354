SET 'execution.runtime-mode' = 'streaming';
SET 'pipeline.max-parallelism' = '8';
SELECT name, joined FROM person QUALIFY ROW_NUMBER() OVER (ORDER BY joined) = 1;
