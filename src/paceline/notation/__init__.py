"""Policies and scalings written as words, on the command line and in race files."""

from paceline.notation.policies import POLICY_HELP, parse_policy, policies_page
from paceline.notation.scalings import SCALING_HELP, parse_scaling

__all__ = ["POLICY_HELP", "SCALING_HELP", "parse_policy", "parse_scaling", "policies_page"]
