SELECT TIMESTAMPDIFF(M, bidtime, bidtime) FROM bid;
