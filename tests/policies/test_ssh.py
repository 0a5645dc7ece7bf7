import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import SSH, InvalidInput, Policy, PowerLaw, SequentialHalving, Uniform, simulate
from paceline.core.rounds import Results
from paceline.policies.base import Pacer, Task
from paceline.testing import PolicyContract, asked
from paceline.theory import stage_count, stages_to_combine


class TestSSH(PolicyContract):
    policy = SSH()
    goal = {"deadline": 60.0}


class TestSSHThatKeepsSamples(PolicyContract):
    policy = SSH(k=1, keep_samples=True, rule="bottleneck")
    goal = {"deadline": 60.0}


class TestSSHOnASubset(PolicyContract):
    policy = SSH(too_short="subset")
    goal = {"deadline": 2.0}


class TestSSHThatCutsBlindly(PolicyContract):
    policy = SSH(k=1, too_short="blind")  # 9 arms, 5 pulls a stage: the first cut is blind
    goal = {"deadline": 9.0}


class TestSequentialHalving(PolicyContract):
    policy = SequentialHalving()
    goal = {"deadline": 60.0}


def give(pacer: Pacer, means: np.ndarray) -> None:
    wanted = asked(pacer)
    sums = wanted.pulls * means[wanted.arms]
    pacer.tell(Results(wanted.arms, wanted.pulls, sums, sums))


@given(arms=st.integers(2, 300), k=st.integers(1, 9), stretch=st.floats(1.0, 20.0))
def test_stages_are_those_of_algorithm_2_for_any_number_of_arms(
    arms: int, k: int, stretch: float
) -> None:
    scaling = PowerLaw(0.5)
    stages = stage_count(arms, k)
    deadline = stages * scaling.seconds(float(arms)) * stretch
    pacer = SSH(k=k).start(Task(arms=arms, scaling=scaling, deadline=deadline))
    pulls = scaling.whole_pulls(deadline / stages)
    means = np.linspace(1, 0, arms)
    alive, spent = arms, 0.0
    for _ in range(stages):
        wanted = asked(pacer)
        assert wanted.arms.size == alive
        assert set(wanted.pulls.tolist()) == {pulls // alive}  # line 5
        spent += scaling.seconds(float(wanted.total))
        give(pacer, means)
        alive = math.ceil(alive / 2**k)  # line 6
    assert alive == 1
    assert pacer.verdict is not None
    assert pacer.verdict.arms.tolist() == [0]
    assert spent <= deadline * (1 + 1e-9)


def test_the_papers_example_of_four_arms() -> None:
    scaling = PowerLaw(0.25)
    halving = simulate([0.9, 0.6, 0.4, 0.1], SequentialHalving(), scaling, deadline=4.0)
    assert (halving.pulls[0], halving.rounds[0]) == (16 + 16, 2)
    single = simulate([0.9, 0.6, 0.4, 0.1], SSH(k=2), scaling, deadline=4.0)
    assert (single.pulls[0], single.rounds[0]) == (256, 1)


def test_k_star_is_the_default() -> None:
    scaling = PowerLaw(0.25)
    means = np.linspace(0, 1, 64)
    k = stages_to_combine(64, 12.0, scaling)
    default = simulate(means, SSH(), scaling, deadline=12.0)
    given_k = simulate(means, SSH(k=k), scaling, deadline=12.0)
    assert default.pulls.tolist() == given_k.pulls.tolist()


def test_sequential_halving_is_ssh_with_k_1() -> None:
    means, scaling = np.linspace(0, 1, 20), PowerLaw(0.5)
    a = simulate(means, SequentialHalving(), scaling, deadline=60.0, replications=5)
    b = simulate(means, SSH(k=1), scaling, deadline=60.0, replications=5)
    assert a.index.tolist() == b.index.tolist()
    assert a.seconds.tolist() == b.seconds.tolist()


def test_a_stage_ranks_by_its_own_pulls_or_by_all_as_asked() -> None:
    """The trap: which samples make the empirical mean? The proof uses the stage's own."""

    def last_survivor(policy: SSH) -> int:
        pacer = policy.start(Task(arms=4, scaling=PowerLaw(1.0), deadline=40.0))
        give(pacer, np.array([1.0, 0.5, 0.0, 0.0]))  # arm 0 leads in the first stage,
        give(pacer, np.array([0.4, 0.5, 0.0, 0.0]))  # arm 1, narrowly, in the second
        assert pacer.verdict is not None
        return int(pacer.verdict.arms[0])

    assert last_survivor(SSH(k=1, keep_samples=False)) == 1
    assert last_survivor(SSH(k=1, keep_samples=True)) == 0


def test_ties_are_broken_at_random_and_not_by_index() -> None:
    """The trap: index order would cheat on sorted arms."""
    result = simulate(np.full(8, 1.0), SSH(), PowerLaw(0.5), deadline=20.0, replications=400)
    counts = np.bincount(result.index, minlength=8)
    assert (counts > 20).all()  # each is expected 50 times; 20 is 4.5 standard deviations below
    again = simulate(np.full(8, 1.0), SSH(), PowerLaw(0.5), deadline=20.0, replications=400)
    assert again.index.tolist() == result.index.tolist()


class TestTooShortADeadline:
    """The trap: with no pull for every arm in a stage, SSH as printed cuts blindly."""

    means = np.linspace(0.2, 0.9, 64)
    scaling = PowerLaw(0.5)

    def test_is_refused_with_the_shortest_that_will_do(self) -> None:
        with pytest.raises(InvalidInput, match=r"too short .* at least 8 s"):
            simulate(self.means, SSH(), self.scaling, deadline=7.9)
        simulate(self.means, SSH(), self.scaling, deadline=8.0)

    def test_names_the_stages_of_a_given_k(self) -> None:
        with pytest.raises(InvalidInput, match=r"6 stages of 8 s each.* at least 48 s"):
            simulate(self.means, SSH(k=1), self.scaling, deadline=40.0)
        simulate(self.means, SSH(k=1), self.scaling, deadline=48.0)

    def test_shorter_than_a_single_pull_is_refused_in_any_case(self) -> None:
        for policy in (SSH(), SSH(too_short="subset"), SSH(too_short="blind")):
            with pytest.raises(InvalidInput, match="shorter than one pull"):
                simulate(self.means, policy, self.scaling, deadline=0.9)

    def test_a_random_subset_caps_the_success_at_its_share(self) -> None:
        obvious = np.r_[1.0, np.zeros(63)]
        result = simulate(
            obvious, SSH(too_short="subset"), self.scaling, deadline=4.0, replications=400
        )
        assert result.seconds.max() <= 4.0
        assert 0.15 < result.success < 0.36  # 16 of 64 arms are raced; 5 standard errors around

    def test_a_subset_is_sized_for_all_stages_of_a_given_k(self) -> None:
        obvious = np.r_[1.0, np.zeros(1023)]
        policy = SequentialHalving(too_short="subset")
        pacer = policy.start(Task(arms=1024, scaling=self.scaling, deadline=20.0))
        raced = asked(pacer).arms.size
        stages = stage_count(raced, 1)
        assert stages * self.scaling.seconds(float(raced)) <= 20.0
        more = raced + 1
        assert stage_count(more, 1) * self.scaling.seconds(float(more)) > 20.0
        result = simulate(obvious, policy, self.scaling, deadline=20.0, replications=20)
        assert result.seconds.max() <= 20.0

    @pytest.mark.parametrize("arms", [3, 17, 1025])
    @pytest.mark.parametrize(
        "policy", [SSH(), SequentialHalving(), Uniform()], ids=lambda p: p.name
    )
    def test_the_deadline_that_the_message_names_is_enough(self, arms: int, policy: Policy) -> None:
        means = np.linspace(0, 1, arms)
        with pytest.raises(InvalidInput) as caught:
            simulate(means, policy, self.scaling, deadline=1.5)
        named = re.search(r"at least ([0-9.]+) s", str(caught.value))
        assert named is not None
        assert simulate(means, policy, self.scaling, deadline=float(named[1])).pulls[0] >= arms

    def test_even_a_subset_needs_two_arms(self) -> None:
        for policy in (SSH(too_short="subset"), SequentialHalving(too_short="subset")):
            with pytest.raises(InvalidInput, match=r"even two arms once: .* at least 1\.415 s"):
                simulate(self.means, policy, self.scaling, deadline=1.2)
            assert simulate(self.means, policy, self.scaling, deadline=1.415).pulls[0] == 2

    def test_a_cut_with_no_pull_at_all_answers_at_random(self) -> None:
        policy = SequentialHalving(too_short="blind")
        result = simulate(self.means, policy, self.scaling, deadline=3.0, replications=640)
        assert result.pulls.max() == 0
        counts = np.bincount(result.index, minlength=64)
        assert counts.max() < 30  # each is expected 10 times
        assert (counts > 0).sum() > 55


def test_a_k_with_a_first_stage_is_preferred_to_a_blind_cut() -> None:
    scaling, deadline = PowerLaw(0.9), 5000.0
    assert stages_to_combine(1024, deadline, scaling, rule="literal") == 1
    result = simulate(np.linspace(0, 1, 1024), SSH(), scaling, deadline=deadline)
    assert result.pulls[0] >= 1024


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SSH(k=0), "at least 1"),
        (lambda: SSH(rule="floored"), "unknown rule"),  # type: ignore[arg-type]
        (lambda: SSH(too_short="bling"), "did you mean 'blind'"),  # type: ignore[arg-type]
        (lambda: SSH(rule="literal", too_short="subset"), "choose another rule"),
        (lambda: SSH(k=2.0), "whole number"),  # type: ignore[arg-type]
        (lambda: SequentialHalving(too_short="no"), "unknown too_short"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_are_refused(make: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()  # type: ignore[operator]
