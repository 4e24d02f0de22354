{{ config(materialized='view') }}
SELECT sched_dep, origin, carrier, dep_delay, `day`
FROM {{ source('raw', 'flights') }}
WHERE dep_time IS NOT NULL
