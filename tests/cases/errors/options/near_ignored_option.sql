SET 'table.exec.mini-batch.enable' = 'true';
