{{ config(materialized='streaming_table') }}
SELECT window_start, origin, COUNT(*) AS departures
FROM TABLE(TUMBLE(TABLE {{ ref('departed') }}, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin
