SELECT item, AVG(size(split(item, 'a'))) AS parts FROM bid GROUP BY item;
