-- windows that are over; the last one waits for the next run
SELECT a.window_start, a.origin
FROM {{ ref('departures_so_far') }} AS a
LEFT JOIN {{ ref('departures_per_hour') }} AS b
ON a.window_start = b.window_start AND a.origin = b.origin AND a.departures = b.departures
WHERE b.origin IS NULL
