-- SQL that would like to be Python: """ import os # {x} \ 'quotes'
/* """
import os
os.system("echo") \ */
CREATE TABLE evil (
    `x"); import os; os.system("echo") #` INT COMMENT '"""); import os',
    `y\` STRING,
    t TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'x"); import os #''\', 'format' = 'csv', 'csv.null-literal' = '"""\n{}');
SELECT
    `x"); import os; os.system("echo") #` AS `"); exit() #`,
    '"""); import os; os.system(''echo'') #' AS `a\`,   -- """ \
    'line
break \n \' AS `b'`,
    CONCAT(`y\`, '{}') AS `{spark}`
FROM evil /* ''' """ */
WHERE `y\` <> '\" OR 1 = 1 -- ' AND `y\` = '"""';
