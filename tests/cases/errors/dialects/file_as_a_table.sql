SELECT * FROM 'data/bids.jsonl';
