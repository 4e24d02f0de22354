CALL advance_watermark();
