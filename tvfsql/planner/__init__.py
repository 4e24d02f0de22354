"""The rule engine."""

from tvfsql.planner.engine import Phase, Planner, Rule, Step, plan_rule, rule

__all__ = ["Phase", "Planner", "Rule", "Step", "plan_rule", "rule"]
