CREATE TABLE visits (ts TIMESTAMP(3), page ROW<section STRING>, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/visits', 'format' = 'json');
SELECT page.section, COUNT(*) AS n FROM visits GROUP BY SESSION(ts, INTERVAL '10' MINUTE), page.section;
