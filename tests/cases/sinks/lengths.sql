-- INSERT cuts and pads to the lengths of the columns, as Flink does; microseconds of a TIMESTAMP(3) are not cut.
CREATE TABLE codes (
  padded CHAR(5), one CHAR, `cut` VARCHAR(2), `all` VARCHAR, second TIMESTAMP(0), tenth TIMESTAMP_LTZ(1), ms TIMESTAMP(3),
  bytes BINARY(3), few VARBINARY(2)
) WITH ('connector' = 'filesystem', 'path' = 'data/codes', 'format' = 'json');
INSERT INTO codes
SELECT name, name, name, name, CAST(joined AS TIMESTAMP(3)), joined, CAST(joined AS TIMESTAMP(3)), X'0102', X'010203'
FROM person;
