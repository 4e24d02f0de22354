"""Flink's options of SET that do not change any row here. A script may set them; a warning says that they have no
effect.

Source: the options of Flink 2.3, with their former names.
"""

from __future__ import annotations

from functools import cache

# Names by prefix.
BY_PREFIX = {
    "execution.": """
        allow-client-job-configurations attached batch-shuffle-mode batch-state-backend.enabled buffer-timeout
        buffer-timeout.enabled buffer-timeout.interval job-listeners job-status-changed-listeners parallelism planner
        program-config.enabled program-config.wildcards result-mode savepoint-restore-mode
        shutdown-on-application-finish shutdown-on-attached-exit
        sort-keyed-partition.memory sort-partition.memory sorted-inputs.enabled sorted-inputs.memory target
        submit-failed-job-on-application-error
        terminate-application-on-any-job-terminated-exceptionally""",
    "execution.async-state.": "active-buffer-size active-buffer-timeout total-buffer-size",
    "execution.batch.": """
        adaptive.auto-parallelism.avg-data-volume-per-task adaptive.auto-parallelism.default-source-parallelism
        adaptive.auto-parallelism.enabled adaptive.auto-parallelism.max-parallelism
        adaptive.auto-parallelism.min-parallelism job-recovery.enabled
        job-recovery.previous-worker.recovery.timeout job-recovery.snapshot.min-pause
        speculative.block-slow-node-duration speculative.enabled speculative.max-concurrent-executions""",
    "execution.checkpointing.": """
        aligned-checkpoint-timeout alignment-timeout approximate-local-recovery checkpoints-after-tasks-finish
        checkpoints-after-tasks-finish.enabled cleaner.parallel-mode create-subdir data-inline-threshold dir
        during-recovery.enabled externalized-checkpoint-retention file-merging.across-checkpoint-boundary
        file-merging.enabled file-merging.max-file-size file-merging.max-space-amplification
        file-merging.max-subtasks-per-file file-merging.pool-blocking incremental interval-during-backlog
        local-backup.dirs local-backup.enabled max-concurrent-checkpoints min-pause mode num-retained
        prefer-checkpoint-for-recovery recover-without-channel-state.checkpoint-id savepoint-dir snapshot-compression
        storage timeout tolerable-failed-checkpoints unaligned unaligned.enabled unaligned.forced
        unaligned.interruptible-timers.enabled unaligned.max-subtasks-per-channel-state-file
        unaligned.recover-output-on-downstream.enabled write-buffer-size""",
    "execution.state-recovery.": """
        approximate-local-recovery claim-mode from-local ignore-unclaimed-state
        without-channel-state.checkpoint-id""",
    "parallelism.": "default",
    "pipeline.": """
        auto-generate-uids auto-watermark-interval cached-files classpaths closure-cleaner-level force-avro force-kryo
        force-kryo-avro generic-types global-job-parameters jars jobvertex-parallelism-overrides object-reuse
        operator-chaining operator-chaining.chain-operators-with-different-max-parallelism operator-chaining.enabled
        serialization-config sources.pause-until-first-checkpoint time-characteristic vertex-description-mode
        vertex-name-include-index-prefix watermark-alignment.allow-unaligned-source-splits
        watermark-alignment.buffer-size""",
    "restart-strategy": """
        .exponential-delay.attempts-before-reset-backoff .exponential-delay.backoff-multiplier
        .exponential-delay.initial-backoff .exponential-delay.jitter-factor .exponential-delay.max-backoff
        .exponential-delay.reset-backoff-threshold .failure-rate.delay .failure-rate.failure-rate-interval
        .failure-rate.max-failures-per-interval .fixed-delay.attempts .fixed-delay.delay .type""",
    "sql-client.": """
        display.color-schema display.max-column-width display.print-time-cost display.show-line-numbers
        prompt verbose""",
    "state.": """
        backend checkpoint-storage checkpoint.cleaner.parallel-mode checkpoints.create-subdir checkpoints.dir
        checkpoints.num-retained savepoints.dir storage.fs.memory-threshold storage.fs.write-buffer-size""",
    "state.changelog.": """
        enabled max-failures-allowed periodic-materialize.enabled periodic-materialize.interval storage""",
    "state.latency-track.": "history-size keyed-state-enabled sample-interval state-name-as-variable",
    "state.size-track.": "history-size keyed-state-enabled sample-interval state-name-as-variable",
    "table.": """
        catalog-modification.listeners display.max-column-width dml-sync dynamic-table-options.enabled
        generated-code.max-length generated-code.max-members legacy-nested-row-nullability
        plan.compile.catalog-objects plan.force-recompile plan.restore.catalog-objects planner
        resources.download-dir rtas-ctas.atomicity-enabled""",
    "table.exec.": """
        async-lookup.buffer-capacity async-lookup.key-ordered-enabled async-lookup.output-mode async-lookup.timeout
        async-ml-predict.max-concurrent-operations async-ml-predict.output-mode async-ml-predict.timeout
        async-scalar.buffer-capacity async-scalar.max-attempts async-scalar.max-concurrent-operations
        async-scalar.retry-delay async-scalar.retry-strategy async-scalar.timeout async-state.enabled
        async-table.max-concurrent-operations async-table.max-retries async-table.retry-delay
        async-table.retry-strategy async-table.timeout async-vector-search.max-concurrent-operations
        async-vector-search.output-mode async-vector-search.timeout deduplicate.insert-update-after-sensitive-enabled
        deduplicate.mini-batch.compact-changes-enabled delta-join.cache-enabled delta-join.left.cache-size
        delta-join.right.cache-size disabled-operators interval-join.min-cleanup-interval
        local-hash-agg.adaptive.distinct-value-rate-threshold local-hash-agg.adaptive.enabled
        local-hash-agg.adaptive.sampling-threshold mini-batch.allow-latency mini-batch.enabled mini-batch.size
        operator-fusion-codegen.enabled rank.topn-cache-size resource.default-parallelism
        resource.external-buffer-memory resource.hash-agg.memory resource.hash-join.memory resource.sort.memory
        shuffle-mode simplify-operator-name-enabled sink.keyed-shuffle sink.require-on-conflict sink.rowtime-inserter
        sink.upsert-materialize sink.upsert-materialize-strategy.adaptive.threshold.high
        sink.upsert-materialize-strategy.adaptive.threshold.low sink.upsert-materialize-strategy.type
        sort.async-merge-enabled sort.max-num-file-handles spill-compression.block-size spill-compression.enabled
        uid.format uid.generation unbounded-over.version window-agg.buffer-size-limit""",
    "table.optimizer.": """
        adaptive-broadcast-join.strategy bushy-join-reorder-threshold delta-join.strategy dynamic-filtering.enabled
        incremental-agg-enabled join-reorder-enabled join.broadcast-threshold multi-join.enabled multiple-input-enabled
        non-deterministic-update.strategy ptf.max-tables reuse-optimize-block-with-digest-enabled reuse-sink-enabled
        reuse-source-enabled runtime-filter.enabled runtime-filter.max-build-data-size runtime-filter.min-filter-ratio
        runtime-filter.min-probe-data-size skewed-join-optimization.skewed-factor
        skewed-join-optimization.skewed-threshold skewed-join-optimization.strategy source.report-statistics-enabled
        sql2rel.project-merge.enabled union-all-as-breakpoint-enabled""",
}
# Prefixes of cluster options.
OF_CLUSTERS = (
    "akka.", "blob.", "classloader.", "cluster.", "env.", "fs.", "heartbeat.", "high-availability.", "historyserver.",
    "io.", "jobmanager.", "jobstore.", "kubernetes.", "metrics.", "pekko.", "plugin.", "python.", "resourcemanager.",
    "rest.", "s3.", "security.", "slot.", "slotmanager.", "sql-gateway.", "state.backend.", "task.", "taskmanager.",
    "web.", "yarn.", "zookeeper.",
)  # fmt: skip
# These can change rows: the value, in lower case, that changes none, and what to write instead of other values.
SETTLED = {
    "execution.savepoint.path": ("", "--checkpoint DIR resumes from the state in it"),
    "execution.state-recovery.path": ("", "--checkpoint DIR resumes from the state in it"),
    "execution.type": ("", "SET 'execution.runtime-mode' = 'streaming'"),
    "table.builtin-catalog-name": ("default_catalog", "CREATE CATALOG c; USE CATALOG c"),
    "table.builtin-database-name": ("default_database", "CREATE DATABASE d; USE d"),
    "table.column-expansion-strategy": ("", "name the columns instead of *"),
    "table.exec.legacy-cast-behaviour": ("disabled", "TRY_CAST gives NULL where a value does not fit"),
    "table.exec.sink.nested-constraint-enforcer": ("ignore", "'IGNORE'"),
    "table.exec.sink.not-null-enforcer": ("error", "WHERE c IS NOT NULL in the query drops such rows"),
    "table.exec.sink.type-length-enforcer": ("ignore", "CAST(c AS VARCHAR(10)) in the query cuts such values"),
    "table.exec.sort.default-limit": ("-1", "LIMIT in the query"),
    "table.sql-dialect": ("default", "'default': Flink's SQL"),
}


@cache
def names() -> frozenset[str]:
    """The names of these options, except cluster options."""
    listed = (prefix + name for prefix, names in BY_PREFIX.items() for name in names.split())
    return frozenset({*listed, *SETTLED, "restart-strategy"})


def is_ignored(key: str) -> bool:
    """Whether it is one of these options."""
    return key in names() or key.startswith(OF_CLUSTERS)


def instead(key: str, value: str) -> str | None:
    """What to write instead of a value that would change rows; None if this value changes none."""
    settled, hint = SETTLED.get(key, (value.lower(), None))
    return None if value.strip().lower() == settled else hint
