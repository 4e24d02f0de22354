-- An INT and a DATE do not meet.
SELECT quantity FROM bid UNION ALL SELECT CAST(opened AS DATE) FROM auction;
