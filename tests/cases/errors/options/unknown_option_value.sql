SET 'table.optimizer.agg-phase-strategy' = 'THREE_PHASE';
