SELECT itme FROM bid;
