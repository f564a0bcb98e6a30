"""Something new is added in as few files as docs/architecture.md says, and works: tried in a copy of the repository."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toys.deployments import QUICK, mechanism, section

from mechanisms import load

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("mechanisms", "audits", "verify", "reports")


class Copy:
    """A copy of the four rooms, and the files that were written into it."""

    def __init__(self, root: Path) -> None:
        self.root, self.touched = root, set[str]()
        for room in ROOMS:
            shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, name: str, text: str) -> None:
        """Write a new file."""
        path = self.root / name
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.touched.add(name)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the one place where ``old`` stands."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (name, old, text.count(old))
        path.write_text(text.replace(old, new), encoding="utf-8")
        self.touched.add(name)

    def python(self, code: str, *, code_of_exit: int = 0) -> str:
        """Run Python in the copy, beside it; return what it printed."""
        environment = dict(os.environ, PYTHONPATH=str(self.root), OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(self.root)!r})\n{code}"]
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == code_of_exit, done.stdout + done.stderr
        return done.stdout

    def pdp(self, *arguments: str, code_of_exit: int = 0) -> str:
        """Run a command of the copy."""
        return self.python(f"from verify.cli import main; main({list(arguments)!r})", code_of_exit=code_of_exit)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


CLAIM = '''class LengthClaim(ClaimSection):
    """The output has this many numbers."""

    promise: ClassVar[str] = "To whoever counts."
    draft: ClassVar[str] = """\\
# type = "length"
# is_ = 2
"""

    type: Literal["length"]
    is_: int


Claim = '''
LENGTH = '''"""A claim that the output has a length."""

from __future__ import annotations

from audits import Estimate
from audits.verdict import CheckRole

from ...kernel.statement import Claim, Evidence
from .finding import Check, Deployment, Finding
from .types import LengthClaim


def length_finding(deployment: Deployment, claim: LengthClaim) -> Finding:
    """Compare with the dimension of the data."""
    dim = float(deployment.dataset.dim)
    shown = Claim("numbers in the output", claim.is_, claim.is_, claim.is_)
    evidence = Evidence(shown, exact=Estimate.proved(dim, dim, "counted"))
    check = Check("length", CheckRole.DECIDES, evidence, False, "counted")
    sentence = f"the output has {claim.is_} numbers"
    return Finding(str(claim.name), claim.type, sentence, "all data sets", False, (check,))
'''


def test_a_type_of_claim(copy: Copy) -> None:
    """Three files: decided both ways, in the draft, in the schema, in record and pages."""
    place, types = "verify/certificates", "verify/certificates/claims/types.py"
    copy.write(f"{place}/claims/claims_length.py", LENGTH)
    copy.edit(types, "UtilityClaim, Field", "UtilityClaim | LengthClaim, Field")
    copy.edit(types, "Claim = Annotated", f"{CLAIM}Annotated")
    names = "from .claims.claims_length import length_finding\nfrom .claims.types import LengthClaim\n"
    copy.edit(f"{place}/certificate.py", "from .claims.finding", f"{names}from .claims.finding")
    copy.edit(
        f"{place}/certificate.py",
        "    DPClaim: dp_finding,",
        "    LengthClaim: length_finding,\n    DPClaim: dp_finding,",
    )
    assert len(copy.touched) == 3
    assert '# type = "length"' in copy.python(
        "from verify.certificates.config.init_draft import example; print(example())"
    )
    schema = copy.python("from verify.certificates.config.config import json_schema; print(json_schema())")
    assert "LengthClaim" in schema
    dim = load("fair").dim
    configuration = section("[data]", source="fair") + mechanism("ssp", sigma_gram=8.0, sigma_moment=8.0, lam=1.0)
    configuration += section("[[claims]]", type="length", is_=dim)
    configuration += section("[[claims]]", type="length", is_=dim + 1) + QUICK
    (copy.root / "length.toml").write_text(configuration, encoding="utf-8")
    copy.pdp("certify", "length.toml", "--out", "out", code_of_exit=1)
    rows = [json.loads(line) for line in (copy.root / "out/release/audit.jsonl").read_text().splitlines()]
    assert [row["words"] for row in rows if row["kind"] == "claim"] == ["PASS (proved)", "FAIL"]
    assert "Whoever counts" in (copy.root / "out/release/audit.md").read_text()


AUDITOR = '''"""How often the first number of an output is positive."""

from __future__ import annotations

import numpy as np

from mechanisms import Dataset, Mechanism

from ..estimate import Budget, Estimate
from .intervals import clopper_pearson


def audit_sign(mechanism: Mechanism, dataset: Dataset, budget: Budget) -> Estimate:
    """Return the probability of a positive first number, with its interval."""
    outputs = mechanism.draw(dataset, budget.n_draws, rng=budget.key.child("sign").rng())
    count = int(np.sum(outputs[:, 0] > 0))
    interval = clopper_pearson(count, budget.n_draws, budget.failure_prob)
    value = count / budget.n_draws
    return Estimate(value, interval.low, interval.high, budget.failure_prob, budget.n_draws, "Clopper-Pearson")
'''


SERIES = '''"""False alarms of the audit of signs."""

from __future__ import annotations

from collections.abc import Iterator

from scipy.special import ndtr

from audits import StreamKey
from audits.estimate import Budget
from audits.stats.audit_sign import audit_sign

from .series import PAIR, AuditSeries, Gaussian, missed, one_by_one


def _audit(level: float, key: StreamKey) -> tuple[bool, bool]:
    return missed(audit_sign(Gaussian(1.0), PAIR.second, Budget(200, level, key)), TRUTH)


TRUTH = float(ndtr(2.0))  # two records, each of mean 1


def sign_series() -> Iterator[AuditSeries]:
    """Yield the series of the audit of signs: normal noise around two records."""
    yield AuditSeries("signs", "Gaussian", 200, one_by_one(_audit))
'''


def test_an_auditor(copy: Copy) -> None:
    """Three files: exported by its name, and calibrated; its false alarms are counted like those of the others."""
    copy.write("audits/stats/audit_sign.py", AUDITOR)
    copy.edit(
        "audits/stats/__init__.pyi",
        "from .coverage import audit_coverage",
        "from .audit_sign import audit_sign as audit_sign\nfrom .coverage import audit_coverage",
    )
    copy.write("verify/calibration/series/sign_series.py", SERIES)
    assert len(copy.touched) == 3
    assert "function audit_sign" in copy.python("import audits.stats; print(audits.stats.audit_sign)")
    measured = copy.python(
        "from verify.calibration.calibration_run import Repetitions, all_series, perform\n"
        "assert 'signs: Gaussian' in all_series()\n"
        "print(perform(Repetitions('signs: Gaussian', 0.1, float('nan'), 0, 200, 1)))"
    )
    low, high, either = ast.literal_eval(measured)
    assert either == low + high <= 35  # level .1, 200 repetitions: more than 35 with probability below 1e-3


FORMAT = '''"""A document as its titles alone."""

from __future__ import annotations

from collections.abc import Mapping

from .row import Document


def titles(document: Document, _: Mapping[str, bytes]) -> bytes:
    """Return the titles, a line each."""
    return "\\n".join([document.title, *(section.title for section in document.sections)]).encode()
'''


def test_an_output_format(copy: Copy) -> None:
    """Two files: every command that writes a document takes it, and refuses what is still unknown."""
    copy.write("reports/titles.py", FORMAT)
    copy.edit("reports/formats.py", '".html": _html}', '".html": _html, ".titles": titles}')
    copy.edit(
        "reports/formats.py", "from .row import Document", "from .row import Document\nfrom .titles import titles"
    )
    assert len(copy.touched) == 2
    copy.pdp("run", "W19-D2.1", "--profile", "quick", "--jobs", "1", "--out", "out")
    copy.pdp("report", "out/audit.jsonl", "-o", "report.titles")
    assert len((copy.root / "report.titles").read_text().splitlines()) >= 2
    refused = ["report", "out/audit.jsonl", "-o", "report.other"], ["errata", "out/audit.jsonl", "-o", "errata.other"]
    for command in refused:
        copy.pdp(*command, code_of_exit=2)


LEMMA = '''"""{id}: a fair coin, told once or twice."""

from __future__ import annotations

from functools import partial

from audits import Estimate

from ..kit import Case, Claim, Evidence, Form, Mutant, over, smallest, statement


def _heads(case: Case, *, at_most: float) -> Evidence:
    """Compare the probability of a head in n tosses with a bound."""
    value = 1 - 0.5 ** case.whole("n")
    return Evidence(Claim("P(a head)", 0.0, at_most, at_most), exact=Estimate.proved(value, value, "counted"))


STATEMENT = statement(
    "{id}",
    domain="n at least 1",
    summary="One toss is not two.",
    derivation="docs/derivations/toy.md",
    printed=Form('PP("a head") <= 1/2', partial(_heads, at_most=0.5), [smallest("two tosses", {{"n": 2}})]),
    corrected=Form('PP("a head") <= 1', partial(_heads, at_most=1.0), over("tosses", {{"n": (1, 2, 10)}})),
    wrong="Two tosses are counted as one.",
    mutants={{"three quarters": Mutant(partial(_heads, at_most=0.75), {{"n": 3}}, severity=0.125)}},
)
'''
TABLE = """
["{id}"]
kind = "lemma"
title = "Heads of a fair coin"
locator = "Lemma 99"
printed = "REFUTED"
corrected = "SUPPORTED"
consequence = "MISPRINT"
why = "two tosses are not one"
"""
HEAD = """
prefix = "T99"
position = 4
slots = 4

[reference]
author = "Ada One"
title = "Coins"
journal = "Journal of Toys"
year = 1999
"""


def run_of(copy: Copy, id_: str) -> list[dict[str, object]]:
    """Run the toy statement as a user does, and return its record's verdicts."""
    copy.pdp("run", id_, "--profile", "quick", "--jobs", "1", "--out", "out")
    record = [json.loads(line) for line in (copy.root / "out" / "audit.jsonl").read_text().splitlines()]
    assert (copy.root / "out" / "audit.pdf").stat().st_size > 1000
    return [row for row in record if row["kind"] == "verdict"]


def check_toy(copy: Copy, id_: str, file: str, reference: str) -> None:
    """List, show, run, report and errata know a new statement."""
    listed = json.loads(copy.pdp("list", "fair coin", id_.partition("-")[0], "--json"))
    assert [(row["id"], row["file"], row["printed"]) for row in listed] == [(id_, file, "REFUTED")]
    shown = copy.pdp("show", id_)
    for words in ("Pr(a head) <= 1/2", "Lemma 99", "as printed REFUTED, corrected SUPPORTED", file, reference):
        assert words in shown
    (verdict,) = run_of(copy, id_)
    assert (verdict["id"], verdict["unexpected"]) == (id_, [])
    assert "Heads of a fair coin" in copy.python(
        "from pathlib import Path; from verify.cli import invoke; invoke(['errata', 'out', '-o', 'errata.md'])\n"
        "print(Path('errata.md').read_text())"
    )


def test_a_statement(copy: Copy) -> None:
    """Two files: the statement and its table (its test is the third)."""
    copy.write("verify/papers/wang2019/lem_99.py", LEMMA.format(id="W19-L99"))
    copy.edit("verify/papers/wang2019/paper.toml", '\n["W19-FIG1"]', f'{TABLE.format(id="W19-L99")}\n["W19-FIG1"]')
    assert len(copy.touched) == 2
    check_toy(copy, "W19-L99", "verify/papers/wang2019/lem_99.py", "Per-instance Differential Privacy")
    copy.edit("verify/papers/wang2019/lem_99.py", "at_most=1.0", "at_most=0.9")
    copy.pdp("run", "W19-L99", "--profile", "quick", "--jobs", "1", "--out", "again", code_of_exit=1)


def test_a_paper(copy: Copy) -> None:
    """One folder; the shares of all others stay as they are."""
    share = "from verify.kernel.paper import paper_of; print([paper_of(i).share for i in ('W19-L2.4', 'RW21-T10')])"
    before = copy.python(share)
    copy.write("verify/papers/toy1999/__init__.py", '"""Statements of `toy1999`."""\n')
    copy.write("verify/papers/toy1999/lem_99.py", LEMMA.format(id="T99-L99"))
    copy.write("verify/papers/toy1999/paper.toml", HEAD + TABLE.format(id="T99-L99"))
    assert {Path(name).parent.name for name in copy.touched} == {"toy1999"}
    check_toy(copy, "T99-L99", "verify/papers/toy1999/lem_99.py", "Ada One. Coins. Journal of Toys, 1999.")
    assert copy.python(share) == before


@pytest.mark.quick
def test_half_a_statement_is_one_line(copy: Copy) -> None:
    """A file without a table, and a table without a file: both commands name what is missing."""
    copy.write("verify/papers/wang2019/lem_99.py", LEMMA.format(id="W19-L99"))
    for command in (["list"], ["run", "W19-L2.4"]):
        copy.pdp(*command, code_of_exit=4)
    (copy.root / "verify/papers/wang2019/lem_99.py").unlink()
    copy.edit("verify/papers/wang2019/paper.toml", '\n["W19-FIG1"]', f'{TABLE.format(id="W19-L99")}\n["W19-FIG1"]')
    copy.pdp("list", code_of_exit=4)


MECHANISM = '''"""The moment of the data plus normal noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..base import check_positive
from ..capabilities import Bound, Domain, WorstPair, gaussian_worst_pair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import GaussianProfile, gaussian_delta
from ..laws.gaussian_calibration import analytic_sigma
from ..parameters import Parameters, Positive
from ..offers import LINEAR, Recipe, Offered
from ..releases.gaussian_shift import draw_shifted, log_density_shifted, shift_loss, shift_profile, sum_shift


@dataclass(frozen=True)
class NoisyMoment:
    """Releases ``X^T y + N(0, sigma^2 I)``."""

    sigma: float
    name = "noisy moment"

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma)

    def _scale(self, dim: int) -> FloatArray:
        return np.full(dim, self.sigma)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs."""
        return draw_shifted(dataset.X.T @ dataset.y, self._scale(dataset.dim), n_draws, rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density."""
        return log_density_shifted(outputs, dataset.X.T @ dataset.y, self._scale(dataset.dim))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss."""
        data, shift = pair.first, sum_shift(pair, lambda x, y: x * y)
        return shift_loss(outputs, data.X.T @ data.y, shift, self._scale(data.dim))

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law."""
        return shift_profile(sum_shift(pair, lambda x, y: x * y), self._scale(pair.first.dim))

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        """Return the exact worst case."""
        return GaussianProfile(x_bound * y_bound / self.sigma)

    def worst_case(self, domain: Domain) -> Bound:
        """Return the same for a certificate."""
        mu = self.worst_profile(domain.x_bound, domain.y_bound).mu
        return Bound("a toy", "The moment moves by at most B Y.", lambda e, _: gaussian_delta(mu, e), mu=mu)

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair:
        """Return a pair that reaches it."""
        mu = self.worst_profile(domain.x_bound, domain.y_bound).mu
        return gaussian_worst_pair(domain, mu, epsilon, "one record more, of the longest features")


class NoisyMomentParameters(Parameters):
    """The noisy moment (a toy)."""

    name: Literal["noisy-moment"]
    sigma: Positive

    def build(self, dim: int) -> NoisyMoment:
        """Return the mechanism."""
        return NoisyMoment(self.sigma)


def examples() -> dict[str, Example]:
    """Return it on a pair."""
    return {"noisy-moment": Example(NoisyMoment(1.0), example_pair())}


def misstatements() -> dict[str, Example]:
    """Return it with too little noise."""
    from ..broken.misstated import Misstated

    claimed = NoisyMoment(1.0)
    return {"noisy_moment_understated": Example(Misstated(claimed, replace(claimed, sigma=0.8)), example_pair())}


def recipes() -> dict[str, Recipe]:
    """Return the exact calibration."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        return Offered(NoisyMoment(analytic_sigma(pair.first.x_bound * pair.first.y_bound, epsilon, delta) * 1.000001))

    return {"noisy-moment": Recipe(build, LINEAR, True, "a toy")}
'''
TWIN = '''"""The noisy moment against a literal twin."""

import math

import numpy as np

from mechanisms.catalogue import example_data
from mechanisms.linear.noisy_moment import NoisyMoment


def test_the_density_is_that_of_the_twin():
    data, output = example_data(4), np.array([0.3, -0.2])
    twin = 0.0
    for j in range(2):
        moment = sum(float(data.X[i, j] * data.y[i]) for i in range(4))
        twin += -((output[j] - moment) ** 2) / (2 * 0.49) - math.log(0.7 * math.sqrt(2 * math.pi))
    assert abs(NoisyMoment(0.7).log_density(output[None], data)[0] - twin) < 1e-12
'''


@pytest.mark.slow
def test_a_mechanism(copy: Copy) -> None:
    """Four files: conforms, its misstatement does not; certified both ways by its name, swept; in schema and bank."""
    for room in ("tests", "docs"):
        shutil.copytree(ROOT / room, copy.root / room, ignore=shutil.ignore_patterns("__pycache__"))
    copy.write("mechanisms/linear/noisy_moment.py", MECHANISM)
    copy.write("tests/mechanisms/linear/test_noisy_moment.py", TWIN)
    copy.edit(
        "mechanisms/linear/__init__.py",
        '    "subsample_aggregate",\n',
        '    "subsample_aggregate",\n    "noisy_moment",\n',
    )
    copy.edit(
        "docs/certify.md", "`worst_profile(x_bound, y_bound)` with it", "`worst_profile(x_bound, y_bound)` with it "
    )
    assert len(copy.touched) == 4
    chosen = "(moment or catalogue) and not length and not percent"
    for test, passed in (("linear/test_noisy_moment.py", 1), ("test_conformance.py", 3)):
        options = ["-q", "-p", "no:cacheprovider", "-k", chosen, f"tests/mechanisms/{test}"]
        told = copy.python(f"sys.path.insert(1, 'tests'); import pytest; sys.exit(pytest.main({options}))")
        assert f"{passed} passed" in told
    assert "noisy-moment" in copy.python(
        "from verify.certificates.config.config import json_schema; print(json_schema())"
    )
    bank = "from verify.calibration.mutant_bank import twin_mutants; print([m.name for m in twin_mutants()])"
    assert "noisy_moment_understated" in copy.python(bank)
    axes = {"mechanism": ["noisy-moment"], "loss": ["squared"], "n": [20], "dim": [2], "conditioning": [1], "seed": [0]}
    axes |= {"target": ["lonely", "member"], "delta": [1e-5], "epsilon": [0.5, 1]}
    (copy.root / "grid.toml").write_text(section("[grid]", **axes), encoding="utf-8")
    assert "noisy-moment, squared: 4 hold" in copy.pdp("sweep", "grid.toml", "--jobs", "1")
    for sigma, verdict, code in ((8.0, "PASS (proved)", 0), (2.0, "FAIL", 1)):
        configuration = section("[data]", source="fair") + mechanism("noisy-moment", sigma=sigma)
        configuration += section("[[claims]]", type="dp", epsilon=1.0, delta=1e-5) + QUICK
        (copy.root / f"moment{code}.toml").write_text(configuration, encoding="utf-8")
        copy.pdp("certify", f"moment{code}.toml", "--out", f"moment{code}", code_of_exit=code)
        rows = [json.loads(line) for line in (copy.root / f"moment{code}/release/audit.jsonl").read_text().splitlines()]
        assert [row["words"] for row in rows if row["kind"] == "claim"] == [verdict]
