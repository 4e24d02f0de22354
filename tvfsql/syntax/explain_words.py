"""The words of EXPLAIN: which stage is shown, and how."""

STAGES = ("ast", "logical", "trace", "physical", "code", "all")
FORMATS = ("text", "json", "mermaid", "html")
# EXPLAIN ANALYZE runs the query, and shows the plan that ran.
ANALYZE = "analyze"
ANALYZE_FORMATS = ("text", "json")
# Flink's: the plan that runs, as JSON, and what plans here do not tell.
JSON_PLAN = "json_execution_plan"
DETAILS = ("estimated_cost", "changelog_mode", "plan_advice")
