import pytest
from scipy.stats import binom

from audits import StreamKey
from verify.calibration.series.importance_series import importance_series

SERIES = {series.name: series for series in importance_series()}


@pytest.mark.parametrize("name", SERIES)
def test_false_alarms_are_within_their_level_and_the_control_is_found_out(name):
    """Null: the lower ends miss with probability at most 0.1. Level 1e-7 by the binomial law, 80 repetitions."""
    series = SERIES[name]
    found = series.misses(80, 0.1, StreamKey(4, ("test",)))
    assert found.shape == (80, 2)
    assert not found[:, 1].any()  # nothing is claimed above
    assert (found[:, 0].sum() > binom.isf(1e-7, 80, 0.1)) == series.control
