CALL advance_watermarks(TIMESTAMP '2020-04-15 08:20:00');
