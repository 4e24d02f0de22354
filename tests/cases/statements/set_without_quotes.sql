SET table.local-time-zone = Europe/Berlin;
SET table.optimizer.agg-phase-strategy = 'ONE_PHASE';
RESET table.optimizer.agg-phase-strategy;
SET 'pipeline.name' = 'prices per minute';
SET;
