CREATE TABLE `my.table` (`a.b` STRING, `{brace}` INT, `or"der` INT) WITH ('connector' = 'parquet', 'path' = 'x');
SELECT `a.b`, '{}' AS braces, '{t}' AS named, RANK() OVER (PARTITION BY `a.b` ORDER BY `{brace}`) AS `r{0}`
FROM `my.table` AS t
WHERE `or"der` > 0;
