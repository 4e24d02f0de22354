"""The words of EXPLAIN: which stage is shown, and how."""

STAGES = ("ast", "logical", "trace", "physical", "code", "all")
FORMATS = ("text", "json", "mermaid", "html")
# Flink's: the plan that runs, as JSON, and what plans here do not tell.
JSON_PLAN = "json_execution_plan"
DETAILS = ("estimated_cost", "changelog_mode", "plan_advice")
