"""The policies by name: one line each."""

from paceline.errors import InvalidInput, unknown_name
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.batch_racing import BatchRacing
from paceline.policies.lil_ucb import LilUCB
from paceline.policies.racing import Racing
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.staged import Staged
from paceline.policies.timed import Timed
from paceline.policies.ucb_e import UCBE
from paceline.policies.uniform import Uniform

POLICIES: dict[str, type[Policy]] = {
    "racing": Racing,
    "staged": Staged,
    "timed": Timed,
    "apr": APR,
    "batch-racing": BatchRacing,
    "ssh": SSH,
    "sequential-halving": SequentialHalving,
    "ucb-e": UCBE,
    "lil-ucb": LilUCB,
    "uniform": Uniform,
}


def find_policy(
    policy: str | Policy | None, *, confidence: bool = True, deadline: bool = False
) -> Policy:
    """Return a policy given as an object or by name, or (for None) the default for the goals.

    >>> find_policy("apr")
    APR(beta=2.0, deviation=1.0, sigma=None)
    >>> find_policy(None, confidence=True, deadline=True).name
    'timed'
    """
    if policy is None:
        if not confidence:
            return Staged()
        return Timed() if deadline else Racing()
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and policy in POLICIES:
        return POLICIES[policy]()
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise InvalidInput(f"{policy.__name__} is a class: write {policy.__name__}() instead")
    raise unknown_name("policy", policy, POLICIES)
