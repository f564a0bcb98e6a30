"""``audits.audit``: what it finds is what ``certify`` finds of the configuration that asks the same."""

import io
import json
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import verify
from audits import AuditResult, audit, gaussian_dp_claim, group_claim, point_claim, renyi_claim, table_claim, zcdp_claim
from audits.black_box.claims import PrivacyClaim
from mechanisms import AdaSSP, Dataset, NeighbouringPair, Relation
from verify.certificates.audit_screen import screen
from verify.cli import invoke
from verify.messages.errors import UserError

RELEASE = """
def half_noise(X, y, rng, n_draws):
    return y.sum() + rng.laplace(scale=0.5, size=n_draws)
"""
SMALL = {"pairs": 2, "draws": 2_000}


def half_noise(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
    return y.sum() + rng.laplace(scale=0.5, size=n_draws)


def enough_noise(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
    return y.sum() + rng.laplace(scale=1.0, size=n_draws)


@cache
def refuted() -> AuditResult:
    return audit(half_noise, 1.0, **SMALL)  # type: ignore[arg-type]


@cache
def undecided() -> AuditResult:
    return audit(enough_noise, 1.0, **SMALL)  # type: ignore[arg-type]


def test_too_little_noise_is_refuted_with_a_bound_between_the_claim_and_the_truth() -> None:
    found = refuted()
    assert found.verdict == "FAIL"
    assert not found.passed
    assert 1.0 < found.epsilon_lower <= 2.0  # the truth; the bound fails with probability 1e-4 at most
    assert found.pair
    assert found.exit_code == 1


def test_the_counterexample_is_a_pair_of_neighbours_that_leaks() -> None:
    pair = refuted().counterexample
    assert pair is not None
    assert abs(pair.first.n_records - pair.second.n_records) == 1
    assert abs(pair.first.y.sum() - pair.second.y.sum()) > 0.5  # more than epsilon 1 at scale 0.5
    assert undecided().counterexample is None


def test_enough_noise_is_not_refuted_and_draws_alone_do_not_pass_it() -> None:
    found = undecided()
    assert found.verdict == "UNDECIDED (no violation found)"
    assert not found.passed
    assert 0.0 < found.epsilon_lower <= 1.0
    assert (found.pair, found.exit_code) == ("", 3)


def test_a_summary_has_at_most_eight_lines_that_say_claim_relation_reach_and_error_rate() -> None:
    for found in (refuted(), undecided()):
        lines = found.summary().splitlines()
        assert 5 <= len(lines) <= 8
        assert lines[0].startswith(f"{found.verdict}: ")
        assert "(1, 0)-differentially private (one record added or removed)" in lines[0]
        assert "norm of a row at most 1, |y| at most 1, 0 records or more" in found.summary()
        assert lines[-1].endswith("is wrong in at most 1 of 10,000 such runs.")
    assert "Seen on: " in refuted().summary()
    assert "events rarer than" in undecided().summary()
    assert repr(refuted()).startswith("AuditResult(verdict=FAIL, epsilon_lower=1.")


def told(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
    return [f"about {value:.3f}" for value in enough_noise(X, y, rng, n_draws)]


def test_of_outputs_that_are_not_read_whole_it_is_not_said_which_leaks_are_seen() -> None:
    found = audit(told, 1.0, pairs=1, draws=500)
    assert found.verdict.startswith("UNDECIDED")
    assert "events rarer than" not in found.summary()


def test_it_is_what_certify_finds_to_the_bit(tmp_path: Path) -> None:
    (tmp_path / "release.py").write_text(RELEASE)
    text = refuted().loaded.text.replace("in_memory:", "release.py:")
    (tmp_path / "c.toml").write_text(text)
    (theirs,) = verify.certify(tmp_path / "c.toml").certificate.findings
    ours = refuted().finding
    assert "release.py:half_noise" in text
    assert theirs.verdict == ours.verdict
    assert theirs.violation == ours.violation
    assert [check.name for check in theirs.checks] == [check.name for check in ours.checks]
    assert [check.evidence.sampled for check in theirs.checks] == [check.evidence.sampled for check in ours.checks]


def test_a_reference_mechanism_is_decided_by_its_theorem() -> None:
    found = audit(AdaSSP(1.0, 1e-6), 1.0, 1e-6)
    assert found.verdict == "PASS (proved)"
    assert found.passed
    assert "private (one record added or removed)" in found.summary()
    assert audit(AdaSSP(4.0, 1e-6), 0.5, 1e-6).verdict != "PASS (proved)"


def test_records_of_ones_own_are_tested_and_stay_with_the_curator(tmp_path: Path) -> None:
    X, y = np.array([[0.25, 0.5], [0.5, 0.25], [0.125, 0.5]]), np.array([0.25, -0.5, 0.75])
    found = audit(enough_noise, 1.0, records=(X, y), pairs=1, draws=1_000)
    assert found.certificate.deployment.private
    assert any(check.private for check in found.finding.checks)
    assert audit(enough_noise, 1.0, records=Dataset(X, y, 1.0, 1.0), pairs=1, draws=1_000).verdict == found.verdict
    folder = found.save(tmp_path / "out")
    assert [part.name for part in folder.iterdir() if part.is_dir()] == ["curator"]


@pytest.mark.parametrize(
    ("claim", "words", "truth"),
    [
        (zcdp_claim(0.1), "0.1-zero-concentrated", 4.887),
        (gaussian_dp_claim(0.5), "0.5-Gaussian", 4.887),
        (renyi_claim(2.0, 0.3), "(2, 0.3)-Renyi", 4.887),
        (table_claim([(0.5, 0.1), (1.0, 0.01)]), "at each of (0.5, 0.1), (1, 0.01)", 1.161),
        (group_claim(point_claim(1.0, 1e-3), 2), "for groups of up to 2 records", 7.582),
        (point_claim(0.5, 0.0, (Relation.REPLACE,)), "(0.5, 0)-differentially private (one record replaced)", math.inf),
    ],
)
def test_claims_of_other_forms_are_audited(claim: PrivacyClaim, words: str, truth: float) -> None:
    """A sum of responses with noise N(0, 1) keeps none of these; ``truth``: its epsilon at the delta that is shown."""

    def noisy_sum(y: Any, rng: Any, n_draws: int) -> Any:
        return y.sum() + rng.normal(size=n_draws)

    found = audit(noisy_sum, claim=claim, pairs=4)
    assert found.verdict == "FAIL"
    assert words in found.summary()
    assert found.claim.privacy.sentence == claim.sentence
    assert found.epsilon_lower <= truth
    lowest, highest = found.plot().get_lines()[0].get_ydata()[[200, 0]]
    assert 0 <= lowest < highest <= 1


def test_the_other_relation_is_asked_for() -> None:
    """A sum of responses with Laplace noise of scale 1 is 2-private for replacement, with |y| at most 1."""
    found = audit(enough_noise, 1.0, relation="replace", pairs=4, draws=2_000)
    assert found.verdict == "FAIL"
    assert "(one record replaced)" in found.summary()
    assert found.epsilon_lower <= 2.0


def test_the_least_number_of_records_is_the_first_that_the_release_answers() -> None:
    def mean(X: Any, y: Any, rng: Any) -> float:
        return float(y.mean() + rng.laplace(scale=1 / len(y)))

    assert audit(mean, 1.0, **SMALL).loaded.config.data.n_min == 1  # type: ignore[arg-type]
    assert undecided().loaded.config.data.n_min == 0


def test_a_command_is_audited(tmp_path: Path) -> None:
    program = tmp_path / "release.py"
    program.write_text(
        "import json, sys, random\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    noise = random.Random(asked['seed'])\n"
        "    for _ in range(asked['n_draws']):\n"
        "        scale = noise.expovariate(2) - noise.expovariate(2)\n"
        "        print(json.dumps(sum(asked['y']) + scale), flush=True)\n"
    )
    found = audit([sys.executable, str(program)], 1.0, n_min=0, pairs=1, draws=1_000)
    assert found.verdict == "FAIL"
    assert found.epsilon_lower <= 2.0


def test_the_folder_is_that_of_certify(tmp_path: Path) -> None:
    folder = refuted().save(tmp_path / "out")
    record = (folder / "release" / "audit.jsonl").read_text()
    assert '"verdict":"FAIL"' in record.replace(" ", "")
    assert invoke(["check", str(folder)]) == 0
    with pytest.raises(UserError, match="folder must be new or empty"):
        refuted().save(folder)


def test_json_and_html_say_the_same() -> None:
    row = json.loads(refuted().to_json())
    assert (row["verdict"], row["claimed"]["relation"]) == ("FAIL", "add-remove")
    assert row["epsilon_lower"] == refuted().epsilon_lower
    assert row["summary"] == refuted().summary().splitlines()
    page = refuted()._repr_html_()
    assert "data:image/png;base64," in page
    assert "FAIL: half_noise" in page


def test_the_picture_shows_the_claim_the_bound_and_the_events() -> None:
    red, claimed = "#d13239", "#3f74b5"
    for found, wrong in ((refuted(), True), (undecided(), False)):
        axes = found.plot()
        colours = [line.get_color() for line in axes.get_lines()]
        assert colours[0] == claimed
        assert (red in colours) is wrong
        epsilon = np.asarray(axes.get_lines()[0].get_ydata())
        x = np.asarray(axes.get_lines()[0].get_xdata())
        oracle = [max(0.0, 1 - math.e * a, (1 - a) / math.e) for a in x]
        assert np.allclose(epsilon, oracle, rtol=0, atol=1e-15)
    proved = audit(AdaSSP(1.0, 1e-6), 1.0, 1e-6).plot()
    assert "proved" in [text.get_text() for text in proved.get_legend().get_texts()]


@pytest.mark.parametrize(("width", "encoding"), [(80, "utf-8"), (120, "utf-8"), (60, "utf-8"), (80, "ascii")])
def test_the_screen_of_a_terminal_has_every_word_of_the_summary(width: int, encoding: str) -> None:
    """In a box that fits; with the curve where there are 80 columns, in signs that the terminal has."""
    for found, colour, sign in ((refuted(), "31", "X●"), (undecided(), "33", "o")):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        console = Console(file=stream, force_terminal=True, width=width, color_system="standard")
        console.print(screen(found, console))
        stream.seek(0)
        shown = stream.read()
        plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
        assert f"\x1b[1;{colour}m{found.verdict}" in shown
        assert max(map(len, plain.splitlines())) <= min(width, 80)
        words = " ".join(line[1:-1] for line in plain.splitlines())
        assert " ".join(found.summary().split()) in " ".join(words.split())
        assert ("false negatives" in plain) is (width >= 80)
        assert any(each in plain for each in sign) or width < 80


@pytest.mark.parametrize(
    ("release", "options", "said"),
    [
        (enough_noise, {}, "audit must be given epsilon or claim, got neither"),
        (enough_noise, {"epsilon": 1.0, "claim": zcdp_claim(0.5)}, "epsilon or claim, got both"),
        (enough_noise, {"claim": zcdp_claim(0.5), "delta": 1e-6}, "delta and relation must be left out beside claim"),
        (enough_noise, {"claim": zcdp_claim(0.5), "relation": "replace"}, "must be left out beside claim"),
        (enough_noise, {"claim": point_claim(1.0, 0.0, (Relation.ADD,))}, "claim must be about a record added and"),
        (enough_noise, {"epsilon": -1.0}, "epsilon must be at least 0, got epsilon=-1"),
        (enough_noise, {"epsilon": 1.0, "delta": 1.5}, "delta must be below 1, got delta=1.5"),
        (enough_noise, {"epsilon": 1.0, "relation": "swap"}, "relation must be one of"),
        (enough_noise, {"epsilon": 1.0, "bounds": (1.0,)}, "bounds must be two numbers"),
        (enough_noise, {"epsilon": 1.0, "bounds": (1.0, -1.0)}, "y_bound must be"),
        (enough_noise, {"epsilon": 1.0, "draws": 0}, "draws must be at least 1"),
        (enough_noise, {"epsilon": 1.0, "failure_prob": 2.0}, "failure_prob must be at most"),
        (enough_noise, {"epsilon": 1.0, "seed": -1}, "seed must be at least 0"),
        (enough_noise, {"epsilon": 1.0, "records": {"age": 3}}, r"records must be a mapping from columns"),
        (enough_noise, {"epsilon": 1.0, "records": (9, 1)}, "records must have ranges of two finite numbers"),
        (enough_noise, {"epsilon": 1.0, "dim": 0}, "dim must be at least 1"),
        (enough_noise, {"epsilon": 1.0, "pairs": [1, 2]}, "pairs must be a whole number or a list of NeighbouringPair"),
        (["cat"], {"epsilon": 1.0, "records": (1, 2)}, "records must be absent but for a function"),
        (enough_noise, {"epsilon": 1.0, "records": ([[9.0]], [1.0])}, r"records must lie inside bounds=\(1.0, 1.0\)"),
        ("Rscript release.R", {"epsilon": 1.0}, "release must be a url where it is a text"),
        (["no-such-program"], {"epsilon": 1.0}, "command must begin with a program that can be run"),
        (lambda a, b, c: 0, {"epsilon": 1.0}, "release must be f"),
    ],
)
def test_a_wrong_call_is_one_line(release: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as stop:
        audit(release, **options)
    assert "\n" not in str(stop.value)


def test_importing_audits_imports_no_verify() -> None:
    program = "import sys, audits; audits.Budget; assert not [n for n in sys.modules if n.startswith('verify')]"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(verify.__file__).parent.parent)


def test_somebody_who_waits_at_a_prompt_is_told_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    audit(AdaSSP(1.0, 1e-6), 1.0, 1e-6)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr("verify.engine.follow.LONG", 0.0)
    audit(enough_noise, 1.0, **SMALL)  # type: ignore[arg-type]
    assert "examination" in capsys.readouterr().err


class Remembers:
    """The first call of an object leaks, and no later one."""

    def __init__(self) -> None:
        self.calls = 0

    def draw(self, dataset: Dataset, n_draws: int, *, rng: Any) -> Any:
        self.calls += 1
        return dataset.y.sum() + rng.laplace(scale=0.05 if self.calls == 1 else 1.0, size=n_draws)


def test_an_object_that_remembers_is_audited_before_any_call_and_draws_that_depend_on_it_bound_nothing() -> None:
    mechanism = Remembers()
    found = audit(mechanism, 1.0)
    assert mechanism.calls == 0
    assert found.finding.examined is not None
    broken = [part["name"] for part in found.finding.examined.row["contract"] if part["outcome"] == "VIOLATED"]
    assert broken == ["one law whatever the call"]
    assert (found.verdict, found.epsilon_lower) == ("UNDECIDED (no violation found)", 0.0)
    assert "Next: Mend what the contract found: one law whatever the call." in found.summary()
    assert found.summary().splitlines()[-1] == "A claim that is true gets a FAIL in at most 1 of 10,000 such runs."


def total_age(people: Any, rng: Any, n_draws: int) -> Any:
    assert set(people["sex"]) <= {"f", "m"}
    return people["age"].sum() + rng.laplace(scale=45.0, size=n_draws)  # half of what 90 needs at epsilon 1


def spread(words: list[str], rng: Any, n_draws: int) -> Any:
    return [words.count(each) for each in "abc"] + rng.laplace(scale=1.0, size=(n_draws, 3))


def test_records_are_handed_over_as_the_code_takes_them(tmp_path: Path) -> None:
    """Columns with ranges and levels as a data frame, one range or list of levels as values."""
    found = audit(total_age, 1.0, records={"sex": ["f", "m"], "age": (17, 90)}, **SMALL)  # type: ignore[arg-type]
    assert found.verdict == "FAIL"
    assert 1.0 < found.epsilon_lower <= 2.0
    assert re.search(r"^Seen on: with and without \(sex [fm], age \d+\)", found.summary(), re.MULTILINE)
    assert "records with sex of f, m, age from 17 to 90, 0 records or more" in found.summary()
    first, second = found.counterexample.given  # type: ignore[union-attr]
    assert abs(len(first) - len(second)) == 1
    assert abs(first["age"].sum() - second["age"].sum()) > 45
    assert "Values" in (text := (found.save(tmp_path) / "curator" / "audit.md").read_text("utf-8"))
    assert re.search(r"sex [fm], age \d+", text)
    assert 'records = { sex = ["f", "m"], age = { low = 17, high = 90 } }' in found.loaded.text
    assert audit(spread, 1.0, records=["a", "b", "c"], **SMALL).epsilon_lower <= 1.0  # type: ignore[arg-type]


def test_a_pair_of_ones_own_is_all_that_is_drawn_from() -> None:
    four = Dataset([[0.0]] * 4, [0.0] * 4, 1.0, 1.0)
    found = audit(half_noise, 1.0, pairs=[NeighbouringPair.add(four, [0.0], 1.0)], draws=2_000)
    assert (found.verdict, found.pair) == ("FAIL", "pair 1")
    nothing = audit(half_noise, 1.0, pairs=[NeighbouringPair.add(four, [0.0], 0.0)], draws=2_000)
    assert nothing.epsilon_lower == 0.0


@pytest.mark.slow
def test_records_of_a_configuration_are_those_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("release.py").write_text(
        "def total(people, rng):\n    return float(people['age'].sum() + rng.laplace(scale=45.0))\n", encoding="utf-8"
    )
    records = "{ age = { low = 17, high = 90 } }"
    words = ["--records", records, "--pairs", "2", "--draws", "2000", "--write-config", "c.toml"]
    assert invoke(["audit", "release.py:total", "--epsilon", "1", *words]) == 1
    assert f"records = {records}" in Path("c.toml").read_text(encoding="utf-8")
    assert invoke(["certify", "c.toml", "--out", "out", "--jobs", "2"]) == 1
    assert invoke(["certify", "out/curator/counterexample.toml", "--out", "again"]) == 1


def test_a_command_is_asked_for_the_least_number_of_records_too(tmp_path: Path) -> None:
    """It answers the number of records as it is where there is none: four records or more would hide that."""
    program = tmp_path / "release.py"
    program.write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    noise = [random.expovariate(1) - random.expovariate(1) for _ in range(asked['n_draws'])]\n"
        "    for each in noise:\n"
        "        print(sum(asked['y']) + each if asked['y'] else 0.0)\n"
        "    sys.stdout.flush()\n",
        encoding="utf-8",
    )
    found = audit([sys.executable, str(program)], 1.0, pairs=6, draws=1_000)
    assert found.loaded.config.data.n_min == 0
    assert found.verdict == "FAIL"
    assert audit([sys.executable, str(program)], 1.0, n_min=4, pairs=1, draws=300).verdict != "FAIL"
