-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT b.item, price, a.id, bidtime, opened
FROM bid AS b FULL JOIN auction AS a
ON b.item IS NOT DISTINCT FROM a.item AND bidtime > opened - INTERVAL '1' MINUTE AND bidtime - INTERVAL '1:30' MINUTE TO SECOND < opened
   AND price > 10 AND seller = 7;
