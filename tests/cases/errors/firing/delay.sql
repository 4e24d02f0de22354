SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.delay' = 'soon';
