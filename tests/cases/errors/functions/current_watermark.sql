SELECT item FROM bid WHERE bidtime > CURRENT_WATERMARK(bidtime);
