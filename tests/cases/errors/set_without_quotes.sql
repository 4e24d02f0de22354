SET table.local-time-zone = UTC;
