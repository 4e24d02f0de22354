-- same-plan-as: window/hop
select window_start, window_end, item, sum(price) as total
from table(hop(table bid, descriptor(bidtime), interval '5' minute, interval '10' minute))
group by window_start, window_end, item;
