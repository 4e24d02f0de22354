CALL advance_watermark(bid, TIMESTAMP '2020-04-15 08:20:00');
