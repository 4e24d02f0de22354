-- Names with dots, quotes, blanks, braces and words of the language.
CREATE TABLE `my.table` (
    `a.b` STRING,
    `sel``ect` INT,
    `two words` INT,
    `it's "quoted"` INT,
    `{brace}` INT,
    `group` STRING,
    `ts` TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/it''s {here}.csv', 'format' = 'csv');
SELECT window_start, `a.b`, `group`, SUM(`sel``ect`) AS `sum of it`, MAX(`it's "quoted"`) AS `{max}`,
       COUNT(DISTINCT `two words`) AS `d.d`, COUNT(`{brace}` + `two words`) AS `"`
FROM TABLE(HOP(TABLE `my.table`, DESCRIPTOR(`ts`), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE `{brace}` > 3 AND `a.b` <> 'x.y'
GROUP BY window_start, window_end, `a.b`, `group`;
