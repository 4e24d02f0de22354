-- Flink's manual writes a delimiter that cannot be typed this way.
CREATE TABLE codes (a STRING, b INT)
  WITH ('connector' = 'filesystem', 'path' = 'codes', 'format' = 'csv', 'csv.field-delimiter' = U&'\0001');
SELECT a FROM codes WHERE b > 1;
