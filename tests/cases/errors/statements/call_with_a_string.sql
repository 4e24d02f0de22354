CALL advance_watermark('2020-04-15 08:20:00');
