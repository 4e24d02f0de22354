"""The words after EXPLAIN: the stage and its format."""

PLAN = "plan"  # the physical plan with a sentence for each operator: what EXPLAIN shows unless it is asked for more
STAGES = (PLAN, "ast", "logical", "trace", "physical", "code", "all")
FORMATS = ("text", "json", "mermaid", "html")
# EXPLAIN ANALYZE runs the query, and shows the plan that ran.
ANALYZE = "analyze"
ANALYZE_FORMATS = ("text", "json", "html")
# Flink's words: the physical plan, as JSON, and details that plans here do not have.
JSON_PLAN = "json_execution_plan"
DETAILS = ("estimated_cost", "changelog_mode", "plan_advice")
