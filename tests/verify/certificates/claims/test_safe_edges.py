"""Numbers at the edge of what a mechanism allows: it works there, or the key is named before anything is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audits.verdict import Decision
from verify.certificates.certify_call import certify
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
DP = 'type = "dp"\nepsilon = 1.0\ndelta = 1e-6\n'
RECORDS = 'type = "pdp"\nscope = "records"\nepsilon = 50.0\ndelta = 0.5\n'
RIDGE = {"gaussian-output": "sigma = 1.0\n", "posterior-sampling": "gamma = 1.0\n"}


def write(
    folder: Path, mechanism: str, claim: str, *, more: str = "", data: str = "public = true", rank: int = 2
) -> Path:
    """Write a configuration with twelve records, of which ``rank`` columns are not all zero."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-0.6, 0.6, (12, 2)) * (np.arange(2) < rank)
    np.savez(folder / "d.npz", X=X, y=np.tile([1.0, -1.0], 6))
    bounds = "" if "x_bound" in data else "x_bound = 1.0\n"
    text = f'[data]\nfile = "d.npz"\nfeatures = ["0", "1"]\ntarget = "y"\n{bounds}y_bound = 1.0\n{data}\n'
    text += f'[mechanism]\n{mechanism}\n{more}\n[[claims]]\n{claim}[budget]\nprofile = "quick"\njobs = 1\n'
    (folder / "c.toml").write_text(text)
    return folder / "c.toml"


def refused(path: Path, capsys: Captured) -> str:
    """Return the one line with which a configuration is refused; nothing is left behind."""
    before = {each.name for each in path.parent.iterdir()}
    assert invoke(["certify", str(path), "--out", str(path.parent / "out")]) == 2
    printed = capsys.readouterr()
    assert {each.name for each in path.parent.iterdir()} - before <= {"out"}
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("error: ")
    return printed.err


@pytest.mark.parametrize("rank", [2, 1])
@pytest.mark.parametrize("draw", ["", "[release]\ndraw = true\n"])
@pytest.mark.parametrize(
    ("claim", "data"), [(DP, "public = true"), (DP, "public = false"), (RECORDS, "public = false")]
)
@pytest.mark.parametrize("name", list(RIDGE))
def test_no_ridge_is_refused_where_data_sets_without_an_estimate_count(
    name: str, claim: str, data: str, draw: str, rank: int, tmp_path: Path, capsys: Captured
) -> None:
    """On private data, and over all data sets; the line does not depend on the records, and nothing was drawn."""
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', claim, more=draw, data=data, rank=rank)
    assert f"mechanism.lam must be greater than 0 for {name} on private data and for claims over" in refused(
        path, capsys
    )
    assert not (tmp_path / "c.releases").exists()


@pytest.mark.parametrize("name", list(RIDGE))
def test_no_ridge_works_on_public_records_that_carry_it(name: str, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', RECORDS)
    assert certify(path).decision is Decision.PASS
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', RECORDS, rank=1)
    assert f"mechanism.lam must be greater for {name}, got mechanism.lam=0; X^T X + lam I is singular" in refused(
        path, capsys
    )


def test_records_without_one_of_them_must_carry_it_too(tmp_path: Path, capsys: Captured) -> None:
    """The second column is that of one record alone."""
    path = write(tmp_path, 'name = "gaussian-output"\nsigma = 1.0\nlam = 0.0', RECORDS)
    X = np.zeros((5, 2))
    X[:, 0], X[3, 1] = 0.5, 0.5
    np.savez(tmp_path / "d.npz", X=X, y=np.ones(5))
    assert "or without one of them" in refused(path, capsys)


@pytest.mark.parametrize("name", list(RIDGE))
def test_a_ridge_below_working_precision_is_refused_by_public_numbers_alone(
    name: str, tmp_path: Path, capsys: Captured
) -> None:
    lines = set()
    for rank in (1, 2):
        mechanism = f'name = "{name}"\n{RIDGE[name]}lam = 1e-12'
        path = write(tmp_path, mechanism, RECORDS, data="public = false\nx_bound = 1e3", rank=rank)
        lines.add(refused(path, capsys))
    assert len(lines) == 1
    assert "mechanism.lam must be at least 8 * dim * 2.2e-16 * records * x_bound^2" in lines.pop()


SGD = 'name = "noisy-sgd"\nn_steps = 2\nsigma = 10.0\nstep_size = 0.1\nclip = 1.0\nradius = 1.0\n'


@pytest.mark.parametrize(
    ("mechanism", "data", "message"),
    [
        (
            SGD + "n_public = 11",
            "",
            "mechanism.n_public must be at least the number of records, got mechanism.n_public=11",
        ),
        (
            'name = "adaops-2019"\nepsilon = 1.0\ndelta = 1e-6\nkappa = 0.1\nn_public = 11',
            "",
            "mechanism.n_public must be at least the number of records, got mechanism.n_public=11",
        ),
        (
            'name = "adaops-2019"\nepsilon = 1.0\ndelta = 1e-6\nkappa = 9.0\nn_public = 20',
            "",
            "mechanism.kappa must be below 0.411796 at this budget, got mechanism.kappa=9",
        ),
        (SGD + "n_public = 0", "", "mechanism.n_public must be at least 1"),
        (SGD.replace("= 2\n", "= 1000000000\n") + "n_public = 20", "", "mechanism.n_steps must be at most 1000000"),
        (SGD.replace("10.0", "1e300") + "n_public = 20", "", "mechanism.sigma must be between 1e-12 and 1e+12"),
        ('name = "adaops-2018"\nepsilon = 1.0\ndelta = 1e-6', "x_bound = 1e-300", "data.x_bound must be between 1e-12"),
        ('name = "ssp"\nsigma_gram = 1e-300\nsigma_moment = 1.0', "", "mechanism.sigma_gram must be between 1e-12 and"),
        ('name = "adassp"\nepsilon = 1e300\ndelta = 1e-6', "", "mechanism.epsilon must be between 1e-12 and 1e+12"),
        ('name = "adassp"\nepsilon = 1.0\ndelta = 1e-320', "", "mechanism.delta must be at least 1e-100"),
        (
            'name = "objective-perturbation"\nloss = "logistic"\nsigma = 10.0\nlam = 1e-9',
            "",
            "mechanism.lam must be at least sigma / 1e+07, got mechanism.lam=1e-09",
        ),
        (
            'name = "subsample-aggregate"\nn_blocks = 1000000000\nepsilon = 1.0\nradius = 1.0',
            "",
            "mechanism.n_blocks must be at most 1000000",
        ),
    ],
)
def test_numbers_out_of_reach_are_refused_by_name(
    mechanism: str, data: str, message: str, tmp_path: Path, capsys: Captured
) -> None:
    path = write(tmp_path, mechanism, DP, data=f"public = true\n{data}", more="[release]\ndraw = true\n")
    assert message in refused(path, capsys)
    assert not (tmp_path / "c.releases").exists()
