SELECT window_start, origin, COUNT(*) AS departures, AVG(CAST(dep_delay AS DOUBLE)) AS mean_delay
FROM TABLE(TUMBLE(TABLE {{ ref('departed') }}, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin
