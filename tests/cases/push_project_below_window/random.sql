-- expect-not: push_project_below_window
SELECT item, price * rand() AS drawn
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE));
