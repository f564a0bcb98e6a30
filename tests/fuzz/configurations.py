"""Configurations that reach the checks: a valid one of every mechanism and claim, one key of it changed."""

from __future__ import annotations

import copy
import sys
from typing import Any

from hypothesis import strategies as st

from fuzz.bases import N_RECORDS
from fuzz.promise import Case
from fuzz.trees import changed, written
from verify.certificates.claims.types import BY_TYPE
from verify.certificates.config.config_mechanisms import BY_TAG, mechanism_tag

PRIVATE = {"file": "data.csv", "features": ["a", "b"], "target": "y", "x_bound": 1.0, "y_bound": 1.0}
EMBEDDED = {"source": "anes96"}
BUDGET = {"profile": "quick", "pairs": 2, "draws": 100, "failure_prob": 1e-4, "seed": 3}
LOSSES = ("logistic", "squared", "poisson", "smoothed-hinge", "pseudo-huber")

#: A command that answers, and a service that does not.
ANSWERING = [sys.executable, "-I", "-S", "door.py"]
NOBODY = "http://127.0.0.1:9/release"

MECHANISMS: dict[str, dict[str, Any]] = {
    **{
        f"objective-{loss}": {"name": "objective-perturbation", "loss": loss, "sigma": 8.0, "lam": 4.0}
        for loss in LOSSES
    },
    "glm-output": {"name": "glm-output", "loss": "logistic", "sigma": 8.0, "lam": 1.0},
    "posterior": {"name": "posterior-sampling", "gamma": 0.001, "lam": 20.0},
    "gaussian": {"name": "gaussian-output", "sigma": 8.0, "lam": 1.0},
    "ssp": {"name": "ssp", "sigma_gram": 8.0, "sigma_moment": 8.0, "lam": 1.0},
    "adassp": {"name": "adassp", "epsilon": 1.0, "delta": 1e-6},
    "adaops-2018": {"name": "adaops-2018", "epsilon": 1.0, "delta": 1e-6},
    "adaops-2019": {"name": "adaops-2019", "epsilon": 1.0, "delta": 1e-6, "kappa": 0.3, "n_public": 20},
    "noisy-sgd": {
        "name": "noisy-sgd",
        "n_steps": 1,
        "sigma": 4.0,
        "step_size": 0.1,
        "clip": 1.0,
        "radius": 1.0,
        "n_public": 1000,
    },
    "dp-sgd": {
        "name": "dp-sgd",
        "loss": "squared",
        "n_steps": 3,
        "rate": 0.25,
        "sigma": 4.0,
        "clip": 1.0,
        "step_size": 0.5,
        "normaliser": 3.0,
    },
    "dp-sgd-released": {
        "name": "dp-sgd",
        "loss": "logistic",
        "n_steps": 2,
        "rate": 1.0,
        "sigma": 4.0,
        "clip": 1.0,
        "step_size": 0.5,
        "count_sigma": 3.0,
        "radius": 1.0,
        "observer": "final",
    },
    "filtered-dp-sgd": {
        "name": "filtered-dp-sgd",
        "loss": "squared",
        "n_steps": 3,
        "rate": 0.25,
        "sigma": 4.0,
        "clip": 1.0,
        "step_size": 0.5,
        "normaliser": 3.0,
        "filter": "renyi",
        "order": 4,
        "budget": 0.01,
    },
    "subsample": {"name": "subsample-aggregate", "n_blocks": 3, "epsilon": 1.0, "radius": 1.0, "lam": 1.0},
    "draws": {"import": "mine.py:Draws", "parameters": {"sigma": 5.0}},
    "density": {
        "import": "mine.py:Density",
        "parameters": {"sigma": 5.0},
        "vouched_by": {"who": "us", "proof": "proof.txt"},
    },
    "worst": {
        "import": "mine.py:Worst",
        "parameters": {"sigma": 5.0},
        "vouched_by": {"who": "us", "proof": "10.1561/0400000042"},
    },
    "command": {"command": ANSWERING, "timeout": 5.0},
    "service": {"url": NOBODY, "timeout": 5.0},
}
DOORS = ("command", "service")
IMPORTED = ("draws", "density", "worst", "command", "service")

POINT = {"epsilon": 1.0, "delta": 1e-6}
DP: tuple[dict[str, Any], ...] = (
    {"type": "dp", **POINT},
    {"type": "dp", **POINT, "relation": "replace"},
    {"type": "dp", **POINT, "group": 2},
    {"type": "dp", "profile": "gaussian-dp", "mu": 1.0},
    {"type": "dp", "profile": "zcdp", "rho": 0.5},
    {"type": "dp", "profile": "renyi", "alpha": 4.0, "epsilon": 1.0},
    {"type": "dp", "profile": "table", "points": [[0.5, 1e-3], [1.0, 1e-4]]},
)
INSTANCE: tuple[dict[str, Any], ...] = (
    {"type": "pdp", "scope": "everyone", **POINT},
    {"type": "pdp", "scope": "records", **POINT},
    {"type": "pdp", "scope": "target", **POINT, "x": [0.5, 0.1], "y": 1.0},
)
EX_POST = {"type": "ex-post", "epsilon": 1.0}
UTILITY: tuple[dict[str, Any], ...] = (
    {"type": "utility", "metric": "mean squared error", "at_most": 4.0},
    {"type": "utility", "metric": "accuracy", "at_least": 0.5, "probability": 0.8},
)
FILTERS: tuple[dict[str, Any], ...] = (
    {"type": "filter", "kind": "renyi", "order": 4, "budget": 0.5, "delta": 1e-6},
    {"type": "filter", "kind": "gaussian", "mu": 1.0, "delta": 1e-6},
)
COVERAGE = {"type": "report-coverage", "level": 0.1}
REPORTS: tuple[dict[str, Any], ...] = ({"rho": 0.01}, {"rho": 0.01, "sigma2": 8.0, "sigma3": 0.25})

WORDS: dict[str, tuple[Any, ...]] = {
    "loss": LOSSES,
    "observer": ("transcript", "final"),
    "relation": ("add-remove", "replace"),
    "scope": ("everyone", "records"),
    "profile": ("quick",),
    "rows": ("refuse", "clip", "unit"),
    "response": ("refuse", "clip"),
    "missing": ("refuse", "drop"),
    "form": ("corrected", "printed"),
    "metric": ("accuracy", "mean squared error"),
    "paper": ("a4", "us-letter"),
    "source": ("anes96",),
    "import": ("mine.py:Draws", "mine.py:Density", "mine.py:Worst", "mine.py:view", "mine.py:None"),
    "command": (ANSWERING, ["none-such-program"], ["door.py"], [sys.executable, "-c", "1"], []),
    "url": (NOBODY, "http://127.0.0.1:9/release?token=1", "http://us:them@127.0.0.1:9/", "ftp://127.0.0.1/", "here"),
    "timeouts": ("stop", "output"),
    "proof": ("proof.txt", "10.1561/0400000042", "https://example.org/proof", "none.txt"),
    "target": ("y", "c", "a", "w"),
    "file": ("out.json", "data.csv"),
    "features": (["a"], ["b", "a"], ["a", "b", "c"], ["a", "a"], ["a", "w"]),
    "seed": (0, 1, 2**31, 2**63, 2**64, 10**30),
    "salt": (0, 1, 2**31, 2**64, 10**30),
    "n_public": (N_RECORDS - 1, N_RECORDS, N_RECORDS + 1, 1000, 2**53 + 1, 10**30),
}

PAIR = {"name": "ours", "X": [[0.5, 0.1]], "y": [1.0], "target_x": [0.1, -0.5], "target_y": -1.0}
#: Keys that the configurations lack, each with a value that is allowed.
KEYS: dict[tuple[Any, ...], tuple[tuple[str, Any], ...]] = {
    ("data",): (
        ("n_public", N_RECORDS), ("n_public", 10**6), ("n_min", 0), ("n_min", N_RECORDS), ("n_min", N_RECORDS + 1),
        ("ranges", {"a": [-1, 1], "b": [-2.0, 2.0]}), ("ranges", {"a": [-1e-300, 1e300]}), ("intercept", 0.5),
        ("intercept", -0.0), ("log", "log"), ("log", "log1p"), ("threshold", 0.0), ("threshold", 1e308),
        ("response_scale", 2.0), ("response_scale", 1e-300), ("rows", "clip"), ("rows", "unit"),
        ("response", "clip"), ("missing", "drop"), ("standardise", True), ("public", True),
        ("chosen_from_data", ["mechanism.sigma"]), ("delimiter", ";"), ("delimiter", "é"), ("header", False),
        ("encoding", "latin-1"), ("encoding", "utf-16"), ("encoding", "klingon"), ("encoding", "rot13"),
        ("encoding", "utf-8-sig"), ("categories", {"a": ["x"]}), ("categories", {"w": ["red"]}),
        ("labels", {"red": 1.0, "blue": -1.0}),
    ),
    ("mechanism",): (
        ("width", 0.5), ("width", 1e-300), ("form", "printed"), ("calibrated", True), ("rho", 0.1), ("salt", 3),
        ("lam", 0.0), ("views", ["mine.py:view"]), ("n_public", 12),
        ("vouched_by", {"who": "us", "proof": "proof.txt"}), ("concurrency", 3), ("concurrency", 10**6),
        ("timeout", 1e-3), ("timeout", 1e300), ("timeouts", "output"), ("batch", 1), ("batch", 7), ("data", "csv"),
        ("reproducible", False), ("version", "2026-11"), ("version", "two\nlines"),
    ),
    ("claims", 0): (
        ("relation", "replace"), ("group", 2), ("group", 1000), ("name", "named"), ("public", True),
        ("probability", 0.5),
    ),
    ("budget",): (
        ("max_draws", 400), ("max_draws", 10**30), ("max_seconds", 1.0), ("max_seconds", 1e-300),
        ("max_seconds", 1e300), ("sequential", True), ("jobs", 1),
    ),
    ("report",): (
        ("sigma2", 8.0), ("sigma3", 0.25),
    ),
}  # fmt: skip
FURTHER: tuple[tuple[tuple[Any, ...], Any], ...] = (
    *(((*place, key), value) for place, pairs in KEYS.items() for key, value in pairs),
    (("paper",), "us-letter"),
    (("artefact",), {"file": "out.json"}),
    (("artefact",), {"file": "none.onnx"}),
    (("pairs",), [PAIR]),
    (("pairs",), [PAIR | {"X": [], "y": []}]),
    (("release",), {"file": "out.json"}),
    (("release",), {"draw": True}),
    (("report",), {"rho": 0.01}),
)
RAW_TEXTS = (
    b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"= 1", b"x = " + b"[" * 5000, b"x = " + b"{a=" * 5000,
    b"x = 1" + b"0" * 5000, b"[data]\n[data]\n",
)  # fmt: skip


@st.composite
def valid(draw: st.DrawFn) -> dict[str, Any]:
    """Return a configuration that reaches the checks."""
    name = draw(st.sampled_from(sorted(MECHANISMS)))
    objective = name.startswith("objective")
    kinds = ["dp", "pdp", "pdp", "filter", "ex-post", "utility", *(["coverage"] if objective else [])]
    kind = draw(st.sampled_from(kinds))
    if name == "noisy-sgd" and kind == "dp" and draw(st.integers(0, 9)):  # 17 s, nearly all of them in a figure
        kind = "pdp"
    claims = {
        "dp": DP if name in IMPORTED else DP[:3],
        "pdp": INSTANCE,
        "filter": FILTERS,
        "ex-post": (EX_POST,),
        "utility": UTILITY,
        "coverage": (COVERAGE,),
    }[kind]
    claim = draw(st.sampled_from(claims))
    embedded = kind != "ex-post" and name not in DOORS and draw(st.integers(0, 9)) == 0 and "scope" not in claim
    tree: dict[str, Any] = {"data": dict(EMBEDDED if embedded else PRIVATE), "mechanism": MECHANISMS[name]}
    if name == "objective-poisson" and not embedded:
        tree["data"] |= {"target": "c", "y_bound": 3.0}
    if kind in ("ex-post", "coverage") or (not embedded and draw(st.integers(0, 4)) == 0):
        tree["release"] = draw(st.sampled_from(({"draw": True}, {"file": "out.json"})))
        if embedded:
            tree["release"] = {"draw": True}
        if name in DOORS:
            tree["release"] = {"file": "out.json"}
    if kind == "coverage" or (objective and draw(st.integers(0, 4)) == 0):
        tree["report"] = draw(st.sampled_from(REPORTS))
        if "release" not in tree:
            tree["release"] = {"draw": True}
    return copy.deepcopy(tree | {"claims": [claim], "budget": BUDGET})


def fitting(tree: dict[str, Any]) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the further keys that mechanism and claim of a configuration know."""
    claim, mechanism = BY_TYPE[tree["claims"][0]["type"]], BY_TAG[str(mechanism_tag(tree["mechanism"]))]
    known = {"claims": claim.model_fields, "mechanism": mechanism.model_fields}
    own = [(place, value) for place, value in FURTHER if place[-1] in known.get(place[0], (place[-1],))]
    if "source" in tree["data"]:
        own = [
            (place, value)
            for place, value in own
            if place[0] != "data" or place[1] in ("n_public", "n_min", "standardise")
        ]
    return [(place, value) for place, value in own if place[0] != "pairs" or "name" not in tree["mechanism"]]


@st.composite
def configurations(draw: st.DrawFn, *, rendered: st.SearchStrategy[bool]) -> Case:
    """Return a configuration with one key changed, for ``certify`` and then ``check``."""
    tree = draw(valid())
    published = tree["claims"][0]["type"] in ("dp", "report-coverage")
    ways: list[tuple[str, ...]] = [(), ("--dry-run",), ("--allow-undecided", "--require", "proved"), ("--draw-again",)]
    arguments = draw(st.sampled_from([*ways, *[("--audience", "release")] * (4 if published else 0)]))
    if "--dry-run" in arguments and tree.get("release", {}).get("draw"):
        arguments = ()
    text: str | bytes = written(draw(changed(tree, WORDS, fitting(tree))))
    if draw(st.integers(0, 39)) == 39:
        text = text.encode()[: draw(st.integers(0, len(text)))] + draw(st.sampled_from(RAW_TEXTS))
    certify = ("certify", "c.toml", "--out", "out", "--jobs", "1", *arguments)
    further = [] if "--dry-run" in arguments else [("check", "out"), certify]
    return Case("configuration", "deployment", (certify, *further), (("c.toml", text),), rendered=draw(rendered))
