-- The other side would be kept forever.
SET 'execution.runtime-mode' = 'streaming';
SELECT /*+ STATE_TTL('b' = '1 h') */ a.id, b.price FROM auction AS a JOIN bid AS b ON a.item = b.item;
