SET 'execution.runtime-mode' = 'streaming';
SELECT /*+ STATE_TTL(b) */ a.id, b.price FROM auction AS a JOIN bid AS b ON a.item = b.item;
