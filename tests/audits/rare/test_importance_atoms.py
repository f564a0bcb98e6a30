"""A loss with an atom at epsilon: nothing lies beyond it, whatever rounding says."""

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare_lower
from mechanisms import Dataset, Direction, NeighbouringPair
from mechanisms.envelopes.loss_points import output_points
from mechanisms.linear.subsample_aggregate import SubsampleAggregate


def test_rounding_puts_no_mass_beyond_an_atom():
    """Laplace noise: the loss never exceeds pure epsilon and has an atom there. Level 1e-6, 2e4 draws."""
    mechanism = SubsampleAggregate(2, 2.0, 1.0, lam=1e-3)
    dataset = Dataset([[0.7], [0.7], [0.7]], [0.3, 0.3, 0.3], 1.0, 1.0)
    pair = NeighbouringPair.add(dataset, [1.0], -1.0)
    source = output_points(mechanism, pair, Direction.FORWARD)
    found = audit_rare_lower(source, Budget(20_000, 1e-6, StreamKey(0)), epsilon=mechanism.pure_epsilon(pair))
    assert found.tail.low == found.delta.low == 0.0
