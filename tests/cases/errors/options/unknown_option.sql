SET 'table.optimizer.agg-phase-strateg' = 'ONE_PHASE';
