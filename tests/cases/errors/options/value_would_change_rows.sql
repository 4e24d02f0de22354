SET 'table.exec.sink.not-null-enforcer' = 'DROP';
