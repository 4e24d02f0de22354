SET 'execution.runtime-mode' = 'streaming';
INSERT OVERWRITE totals (item, total) VALUES ('it reads no table', 1);
INSERT OVERWRITE totals (item, total) SELECT item, price FROM bid;
