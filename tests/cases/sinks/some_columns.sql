INSERT OVERWRITE totals (total, item) SELECT price, item FROM bid;
