"""The structured pairs lie in their domain, are neighbours, and show every fault that they are laid out for."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import for_each
from scipy.special import ndtr

from audits.search.data_pairs import own_data_pairs, refusal_boundary
from audits.search.pairs import N_PAIRS, PublicDomain, examination_pairs
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import Relation
from mechanisms.laws.gaussian_calibration import analytic_mu

CLAIM = (1.0, 1e-6)
BOTH_KINDS = pytest.mark.parametrize("relation", [Relation.ADD, Relation.REPLACE])


# --- what the pairs are -----------------------------------------------------------------------------------------------

bounds = st.one_of(st.just(math.inf), st.sampled_from([1.0, 1e-9, 1e12]), st.floats(1e-3, 1e3))


@st.composite
def domains(draw):
    n_min = draw(st.sampled_from([0, 0, 1, 5, 8, 40, 310]))
    extra = draw(st.sampled_from([None, 0, 1, 2, 7, 400]))
    return PublicDomain(
        draw(st.sampled_from([1, 2, 3, 7])), draw(bounds), draw(bounds), n_min, None if extra is None else n_min + extra
    )


@settings(max_examples=25, deadline=None)
@given(domains(), st.sampled_from([Relation.ADD, Relation.REMOVE, Relation.REPLACE]), st.sampled_from([1, 1, 2, 3]))
def test_every_pair_is_in_the_domain_and_its_members_are_neighbours(domain, relation, group):
    named = examination_pairs(domain, relation, group=group, count=30)
    assert len({each.name for each in named}) == len(named)
    for each in named:
        first, second = each.pair.first, each.pair.second
        assert domain.contains(first)
        assert domain.contains(second)
        assert (first.x_bound, first.y_bound) == (domain.x_bound, domain.y_bound)
        replaced = relation is Relation.REPLACE
        assert (each.pair.relation is Relation.REPLACE) == replaced
        assert distance(first, second) == ((group, group) if replaced else (0, group))
        if not replaced:
            assert (second.n_records > first.n_records) == (each.pair.relation is Relation.ADD)
    if len(named) < 30:  # only where two such data sets hardly exist
        room = math.inf if domain.n_max is None else domain.n_max
        assert room < max(domain.n_min, group) if relation is Relation.REPLACE else room < domain.n_min + group


def distance(first, second):
    """Records of the first that the second lacks, and the other way round, the smaller number first."""
    rows = [sorted(np.column_stack([d.X, d.y]).tolist()) for d in (first, second)]
    only = []
    for these, those in (rows, rows[::-1]):
        left = list(those)
        only.append(sum(1 for row in these if not (row in left and (left.remove(row) or True))))
    return tuple(sorted(only))


@BOTH_KINDS
def test_a_generic_domain_has_enough_pairs_of_every_size(relation):
    named = examination_pairs(PublicDomain(3, 1.0, 1.0), relation)
    least = [min(each.pair.first.n_records, each.pair.second.n_records) for each in named]
    assert len(named) == N_PAIRS >= 24
    assert sum(n >= 30 for n in least) >= 12
    for prefix in (6, 12, 24):
        assert min(least[:prefix]) <= 1
        assert max(least[:prefix]) >= 300
        assert len(set(least[:prefix])) >= 4
        assert len({each.name.split(",")[0] for each in named[:prefix]}) >= 3
    assert len({name.name for name in named}) == len(named)


def test_both_directions_alternate_and_the_target_has_different_places():
    named = examination_pairs(PublicDomain(2, 1.0, 1.0), Relation.REMOVE)
    kinds = [each.pair.relation for each in named]
    assert kinds[:4] == [Relation.ADD, Relation.REMOVE] * 2
    places = {(each.pair.index == 0, each.pair.index == each.pair.second.n_records) for each in named[1::2]}
    assert places >= {(True, False), (False, False), (False, True)}


def test_pairs_are_always_the_same_and_a_prefix_is_a_prefix():
    domain = PublicDomain(4, 2.0, 3.0)
    long, short = (examination_pairs(domain, Relation.ADD, count=n) for n in (40, 12))
    assert [each.name for each in long[:12]] == [each.name for each in short]
    assert [each.pair.first.digest for each in long[:12]] == [each.pair.first.digest for each in short]
    assert len(long) == 40


def test_a_domain_that_begins_at_n_min():
    named = examination_pairs(PublicDomain(2, 1.0, 1.0, n_min=8), Relation.ADD)
    sizes = {min(each.pair.first.n_records, each.pair.second.n_records) for each in named}
    assert sizes == {8, 30, 300}


def test_unbounded_domains_get_growing_scales():
    named = examination_pairs(PublicDomain(2, math.inf, math.inf), Relation.ADD, count=12)
    for axis in ("X", "y"):
        largest = {
            round(math.log10(max(np.abs(getattr(each.pair, s).__getattribute__(axis)).max(initial=0) for s in SIDES)))
            for each in named
        }
        assert largest >= {0, 3, 6, 9}


SIDES = ("first", "second")


def test_labels_are_labels():
    for relation in (Relation.ADD, Relation.REPLACE):
        for each in examination_pairs(PublicDomain(3, 1.0, 5.0), relation, labels=True):
            assert set(np.concatenate([each.pair.first.y, each.pair.second.y])) <= {-1.0, 1.0}
    with pytest.raises(ValueError, match=r"y_bound must be at least 1 for labels, got y_bound=0\.5"):
        examination_pairs(PublicDomain(3, 1.0, 0.5), Relation.ADD, labels=True)


def test_wide_data_and_a_group_that_swaps():
    wide = examination_pairs(PublicDomain(50, 1.0, 1.0), Relation.ADD)
    assert max(each.pair.first.X.size for each in wide) >= 300 * 50
    pair = examination_pairs(PublicDomain(2, 1.0, 1.0), Relation.ADD, group=3, count=1)[0].pair
    assert (pair.distance, pair.relation, pair.swapped().relation) == (3, Relation.ADD, Relation.REMOVE)
    assert pair.swapped().first is pair.second


@for_each(
    ("changed", "message"),
    [
        ({"dim": 0}, "dim must be a whole number of at least 1, got dim=0"),
        ({"x_bound": 0.0}, "x_bound must be positive"),
        ({"y_bound": math.nan}, "y_bound must be positive"),
        ({"n_min": -1}, "n_min must be a whole number of at least 0, got n_min=-1"),
        ({"n_min": 5, "n_max": 4}, "n_max must be at least n_min=5, got n_max=4"),
    ],
)
def test_domains_are_checked(changed, message):
    with pytest.raises(ValueError, match=message):
        PublicDomain(**({"dim": 1, "x_bound": 1.0, "y_bound": 1.0} | changed))


def test_no_pair_where_the_number_of_records_is_fixed():
    fixed = PublicDomain(2, 1.0, 1.0, n_min=9, n_max=9)
    assert examination_pairs(fixed, Relation.ADD) == ()
    assert len(examination_pairs(fixed, Relation.REPLACE)) == N_PAIRS


# --- what the pairs show ----------------------------------------------------------------------------------------------


def product(X, y):
    return X.T @ y


MU = analytic_mu(*CLAIM)


def noise(data, relation):
    """The standard deviation that makes the sum of x*y private at the claim, exactly."""
    return (2 if relation is Relation.REPLACE else 1) * data.x_bound * data.y_bound / MU


def honest(data, relation):
    return product(data.X, data.y), noise(data, relation)


def scaled_by_own_response(data, relation):
    return product(data.X, data.y), noise(data, relation) * np.abs(data.y).max(initial=0.0) / data.y_bound


def scaled_by_own_row(data, relation):
    largest = np.linalg.norm(data.X, axis=1).max(initial=0.0)
    return product(data.X, data.y), noise(data, relation) * largest / data.x_bound


def z_scores(values):
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def standardised(data, relation):
    """Columns and responses standardised, rows then clipped to norm 1 and responses to 1: private by its looks."""
    if not data.n_records:
        return np.zeros(data.dim), noise(data, relation) / (data.x_bound * data.y_bound)
    X, y = z_scores(data.X), np.clip(z_scores(data.y), -1, 1)
    X = X / np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    return product(X, y), noise(data, relation) / (data.x_bound * data.y_bound)


def clipped_at_quantile(share):
    def mechanism(data, relation):
        limit = np.quantile(np.abs(data.y), share) if data.n_records else 0.0
        return product(data.X, np.clip(data.y, -limit, limit)), noise(data, relation)

    return mechanism


def scaled_by_quantile(share):
    def mechanism(data, relation):
        limit = np.quantile(np.abs(data.y), share) if data.n_records else 0.0
        return product(data.X, np.clip(data.y, -limit, limit)), noise(data, relation) * limit / data.y_bound

    return mechanism


def centred(data, relation):
    if not data.n_records:
        return honest(data, relation)
    return product(data.X - data.X.mean(axis=0), data.y - data.y.mean()), noise(data, relation)


def responses_centred(data, relation):
    if not data.n_records:
        return honest(data, relation)
    return product(data.X, data.y - data.y.mean()), noise(data, relation)


def noiseless(when):
    def mechanism(data, relation):
        value, scale = honest(data, relation)
        return value, 0.0 if when(data) else scale

    return mechanism


def alike(data):
    return data.n_records > 1 and len(np.unique(np.column_stack([data.X, data.y]), axis=0)) == 1


def ridge(data, relation):
    """Coefficients with the noise of their largest move for a row of full length; shorter rows move them more."""
    inverse = np.linalg.inv(data.X.T @ data.X / data.x_bound**2 + 0.05 * np.eye(data.dim))
    return inverse @ product(data.X, data.y), noise(data, relation) / 1.05


def scaled_by_spread(data, relation):
    return product(data.X, data.y), noise(data, relation) * (data.y.std() if data.n_records else 1.0) / data.y_bound


FAULTS = {
    "noise scaled by the data's own largest response": scaled_by_own_response,
    "noise scaled by the data's own largest row": scaled_by_own_row,
    "noise scaled by the data's own spread": scaled_by_spread,
    "standardised": standardised,
    "ridge": ridge,
    "centred": centred,
    "responses centred": responses_centred,
    **{f"clipped at the {q:g} quantile": clipped_at_quantile(q) for q in (0.5, 0.75, 0.9, 0.95)},
    **{f"noise scaled by the {q:g} quantile": scaled_by_quantile(q) for q in (0.5, 0.75, 0.9, 0.95, 0.99)},
    "no noise from 20 on": noiseless(lambda d: d.n_records >= 20),
    "no noise from 200 on": noiseless(lambda d: d.n_records >= 200),
    "no noise below 6": noiseless(lambda d: d.n_records < 6),
    "no noise for equal records": noiseless(alike),
    "no noise where a response is 0": noiseless(lambda d: bool((d.y == 0).any())),
    "no noise where all responses are 0": noiseless(lambda d: d.n_records > 0 and not d.y.any()),
}


def normal_delta(first, second, epsilon):
    """Exact delta of the outputs along the line through both means, worse direction; a lower bound for the whole."""
    (m0, s0), (m1, s1) = first, second
    gap = float(np.linalg.norm(m0 - m1))
    if gap <= 1e-12 * (np.abs(m0).max() + np.abs(m1).max()):
        gap = 0.0
    if s0 == 0 or s1 == 0:
        return 1.0 if s0 != s1 or gap > 0 else 0.0
    return max(one_way(gap, s0, s1, epsilon), one_way(gap, s1, s0, epsilon))


def one_way(gap, s0, s1, epsilon):
    """P(S) - e^epsilon Q(S) for P = N(0, s0^2), Q = N(gap, s1^2), S where log p/q > epsilon: a quadratic."""
    a = 0.5 / s1**2 - 0.5 / s0**2
    b, c = -gap / s1**2, 0.5 * (gap / s1) ** 2 + math.log(s1 / s0) - epsilon
    if abs(a) < 1e-12 / s0**2:
        if b == 0:
            return max(0.0, (1 - math.exp(epsilon)) * (c > 0))
        root = -c / b
        return max(0.0, float(ndtr(root / s0)) - math.exp(epsilon) * float(ndtr((root - gap) / s1)))
    square = b * b - 4 * a * c
    if square <= 0:
        return max(0.0, 1 - math.exp(epsilon)) if a > 0 else 0.0
    low, high = sorted(((-b - math.sqrt(square)) / (2 * a), (-b + math.sqrt(square)) / (2 * a)))
    p, q = (float(ndtr((high - m) / s) - ndtr((low - m) / s)) for m, s in ((0.0, s0), (gap, s1)))
    return max(0.0, p - math.exp(epsilon) * q if a < 0 else (1 - p) - math.exp(epsilon) * (1 - q))


listed = cache(examination_pairs)


def deltas(mechanism, domain, relation, count):
    named = listed(domain, relation, count=count)
    return {
        e.name: normal_delta(mechanism(e.pair.first, relation), mechanism(e.pair.second, relation), CLAIM[0])
        for e in named
    }


def test_the_exact_delta_of_two_normal_laws_against_integration():
    x = np.linspace(-40, 40, 400_001)
    for gap, s0, s1 in [(0.5, 1.0, 1.0), (0.3, 1.0, 2.0), (1.0, 2.0, 0.7), (0.0, 1.0, 3.0)]:
        p = np.exp(-0.5 * (x / s0) ** 2) / s0
        q = np.exp(-0.5 * ((x - gap) / s1) ** 2) / s1
        dx = (x[1] - x[0]) / math.sqrt(2 * math.pi)
        expected = np.maximum(p - math.exp(0.4) * q, 0).sum() * dx
        assert one_way(gap, s0, s1, 0.4) == pytest.approx(expected, abs=1e-6)


@BOTH_KINDS
@for_each("domain", [PublicDomain(1, 1.0, 1.0), PublicDomain(3, 2.0, 0.5), PublicDomain(2, 1, 1, 8)])
@for_each("fault", FAULTS)
def test_the_first_twelve_pairs_show_every_fault(fault, domain, relation):
    found = max(deltas(FAULTS[fault], domain, relation, 12).values())
    if fault == "no noise below 6" and domain.n_min >= 6:
        assert found <= CLAIM[1] * 1.001  # it is no fault in this domain
    else:
        assert found > 3e-3  # the claim is 1e-6; centring alone can give no more under REPLACE


@BOTH_KINDS
def test_a_mechanism_for_labels_alone_has_pairs_in_any_domain_that_holds_labels(relation):
    named = examination_pairs(PublicDomain(2, 1.0, 7.0), relation, count=72)
    accepted = [e for e in named if set(np.concatenate([e.pair.first.y, e.pair.second.y])) <= {-1.0, 1.0}]
    assert len(accepted) >= 12


@BOTH_KINDS
@pytest.mark.parametrize("dim", [1, 3])
def test_the_honest_mechanism_keeps_its_claim_on_all_and_meets_it_on_some(dim, relation):
    found = deltas(honest, PublicDomain(dim, 2.0, 0.5), relation, 60)
    assert max(found.values()) == pytest.approx(CLAIM[1], rel=1e-3)
    if relation is Relation.ADD:
        assert sum(value > 0.99 * CLAIM[1] for value in found.values()) >= 12


def data_at_hand(n=40, dim=3, x_bound=2.0, y_bound=3.0):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, dim))
    X *= 1.9 / np.linalg.norm(X, axis=1).max()
    y = np.clip(rng.normal(size=n), -2, 2)
    X[7], y[19] = [0.0, 0.0, 1.95], -2.9
    return Dataset(X, y, x_bound, y_bound)


def test_own_data_lose_each_of_their_extreme_records():
    data = data_at_hand()
    named = own_data_pairs(data, Relation.ADD)
    both = {each.name: each.pair for each in named}
    assert len(both) == len(named) >= 8
    target = {name: (pair.x.tolist(), pair.y) for name, pair in both.items()}
    assert any(y == -2.9 and "largest response" in name for name, (_, y) in target.items())
    assert any(x == [0.0, 0.0, 1.95] and "largest row" in name for name, (x, _) in target.items())
    assert any(x == data.X[0].tolist() and "first place" in name for name, (x, _) in target.items())
    for each in named:
        larger = each.pair.second if each.pair.relation is Relation.ADD else each.pair.first
        assert data.digest in (each.pair.first.digest, each.pair.second.digest) or larger.n_records == data.n_records
        assert distance(each.pair.first, each.pair.second) == (0, 1)
        assert "2.9" not in each.name
    assert {each.pair.relation for each in named} == {Relation.ADD, Relation.REMOVE}


def test_own_data_replace_each_extreme_record_by_the_opposite_one():
    data = data_at_hand()
    named = own_data_pairs(data, Relation.REPLACE)
    found = next(each.pair for each in named if "largest response" in each.name)
    assert (found.first.y[found.index], found.y) == (-2.9, 3.0)
    assert np.linalg.norm(found.x) == pytest.approx(2.0)
    assert all(distance(e.pair.first, e.pair.second) == (1, 1) for e in named)
    domain = PublicDomain(3, 2.0, 3.0)
    assert all(domain.contains(e.pair.second) for e in named)


def test_own_data_stay_within_the_number_of_records_and_the_labels():
    data = data_at_hand()
    assert {e.pair.relation for e in own_data_pairs(data, Relation.ADD, n_min=40)} == {Relation.ADD}
    assert all(e.pair.second.n_records < 41 for e in own_data_pairs(data, Relation.ADD, n_max=40))
    signs = Dataset(data.X, np.sign(data.y), 2.0, 3.0)
    for relation in (Relation.ADD, Relation.REPLACE):
        named = own_data_pairs(signs, relation, labels=True)
        assert all(set(np.concatenate([e.pair.first.y, e.pair.second.y])) <= {-1.0, 1.0} for e in named)


@BOTH_KINDS
@pytest.mark.parametrize("n", [0, 1, 2])
def test_own_data_without_bounds_or_hardly_any_records(n, relation):
    data = Dataset(np.zeros((n, 2)), np.zeros(n), math.inf, math.inf)
    named = own_data_pairs(data, relation)
    assert bool(named) == (n > 0 or relation is Relation.ADD)
    assert all(np.isfinite(e.pair.x).all() for e in named)


@for_each(
    ("rule", "refused", "accepted"),
    [
        (lambda d: d.n_records >= 8, 2, 40),
        (lambda d: d.n_records <= 5, 40, 3),
        (lambda d: bool((d.y < -2.5).any()), 12, 40),
        (lambda d: d.n_records % 2 == 0 and d.n_records > 3, 3, 40),
    ],
)
def test_the_edge_of_what_is_refused_is_found_in_a_few_calls(rule, refused, accepted):
    data = data_at_hand()
    calls = []

    def accepts(dataset):
        calls.append(dataset.n_records)
        return rule(dataset)

    found = refusal_boundary(accepts, prefix(data, refused), prefix(data, accepted))
    assert len(calls) <= 2 + math.ceil(math.log2(refused + accepted))
    assert not rule(found.pair.first)
    assert rule(found.pair.second)
    assert distance(found.pair.first, found.pair.second) == (0, 1)
    assert min(refused, accepted) <= min(calls)
    assert max(calls) <= max(refused, accepted)


def test_no_edge_where_the_answers_are_not_as_said():
    data = data_at_hand()
    assert refusal_boundary(lambda _: True, prefix(data, 2), data) is None
    assert refusal_boundary(lambda _: False, prefix(data, 2), data) is None
    same_size = refusal_boundary(lambda d: d.y[0] != data.y[0], data, Dataset(data.X, -data.y, 2.0, 3.0))
    assert same_size.pair.first.y[0] == data.y[0] != same_size.pair.second.y[0]
    with pytest.raises(ValueError, match="refused must be of the public domain of accepted"):
        refusal_boundary(lambda _: True, Dataset(data.X, data.y, 2.5, 3.0), data)


def prefix(data, n):
    return Dataset(data.X[:n], data.y[:n], data.x_bound, data.y_bound)
