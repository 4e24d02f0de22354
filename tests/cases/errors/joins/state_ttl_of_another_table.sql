SET 'execution.runtime-mode' = 'streaming';
SELECT /*+ STATE_TTL('aucton' = '1 d', 'b' = '1 h') */ auction.id, b.price FROM auction JOIN bid AS b ON auction.item = b.item;
