SELECT /*+ BROADCASD(bid) */ item FROM bid;
