CREATE TABLE evil (`k"\` STRING, v STRING, t TIMESTAMP(3)) WITH ('connector' = 'parquet', 'path' = 'x');
SELECT window_start, `k"\`, LISTAGG(v, '"); import os #') AS `l"]`, COUNT(*) FILTER (WHERE v = '"""' OR v = '}{') AS `n'"`
FROM TABLE(HOP(TABLE evil, DESCRIPTOR(t), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, `k"\`;
