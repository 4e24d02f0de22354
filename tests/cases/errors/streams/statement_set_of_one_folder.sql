SET 'execution.runtime-mode' = 'streaming';
EXECUTE STATEMENT SET BEGIN
    INSERT INTO totals SELECT bidtime, item, price FROM bid;
    INSERT INTO totals SELECT opened, item, reserve FROM auction;
END;
