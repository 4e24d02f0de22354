SET 'tvfsql.rules.disabled' = 'split_local';
SELECT item FROM bid;
