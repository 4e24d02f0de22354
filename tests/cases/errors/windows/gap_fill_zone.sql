SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT * FROM GAP_FILL(TABLE person, DESCRIPTOR(joined), INTERVAL '1' HOUR);
