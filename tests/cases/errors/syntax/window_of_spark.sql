SELECT COUNT(*) AS bids FROM bid GROUP BY window(bidtime, '10 minutes');
