UPDATE bid SET price = 3;
