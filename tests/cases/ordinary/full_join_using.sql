SELECT item FROM bid FULL JOIN auction USING (item);
