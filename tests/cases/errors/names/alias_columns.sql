SELECT a FROM bid AS t(a, b);
