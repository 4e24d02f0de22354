-- expect: update_groups_without_window
CREATE TABLE ticks (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT) WITH ('connector' = 'rate');
SELECT COUNT(*) FROM ticks;
