-- expect-not: update_groups_without_window
SELECT item, COUNT(*) AS n FROM bid GROUP BY item;
