SET 'execution.runtime-mode' = 'streaming';
SELECT u.item
FROM (SELECT item, t - INTERVAL '8' HOUR AS earlier
      FROM (SELECT item, bidtime AS t FROM bid UNION ALL SELECT item, opened FROM auction)) u
JOIN bid ON u.item = bid.item AND u.earlier BETWEEN bidtime - INTERVAL '1' MINUTE AND bidtime;
