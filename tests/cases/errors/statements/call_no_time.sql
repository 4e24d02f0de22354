CALL advance_watermark(TIMESTAMP '2020-04-35 08:20:00');
