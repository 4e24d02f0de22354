SELECT item FROM bid JOIN auction USING (items);
