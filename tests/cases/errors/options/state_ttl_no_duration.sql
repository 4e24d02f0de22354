SET 'table.exec.state.ttl' = 'a day';
