"""The names of the zoo: a name says its law, word by word, and what its words leave open stands in brackets.

``{a,b}`` makes a name of each. The claim is what the law's worst profile is at these parameters, rounded up: epsilon by
a share of 1e-12, delta by 1e-9. An ``at`` in brackets is the epsilon of a claim with a delta.
"""

import ast
import inspect
import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from oracles.bank_laws import up

from mechanisms import BOTH

from . import zoo, zoo_finite
from .registry import Claim, Entry

SCALES = {"half": 0.5, "one": 1.0, "two": 2.0, "five": 5.0, "root2": math.sqrt(2), "pi3": math.pi / 3}
CENTRES = {"low": -1.0, "high": 1.0, "between": (-1.0, 1.0)}
#: What the words of a name set: the class, a relation or a group of the claim, else a parameter of the law.
WORDS: dict[str, dict[str, Any]] = {
    **{said: {} for said in ("laplace", "plain", "clamped", "clamped-both", "clamped-above", "clamped-below")},
    **{said: {} for said in ("rounded", "thresholded", "irrational-bounds", "at-centre", "bounds-at-centres")},
    **{noise: {"noise": noise} for noise in ("gaussian", "student", "logistic")},
    **{
        form: {"form": form}
        for form in ("dict", "frame", "text", "json", "float32", "list", "ragged", "array", "tuple")
    },
    "nested-dict": {"form": "nested"},
    "flat-array": {"form": "flat"},
    "scalar-list": {"form": "scalar"},
    "scalar": {"form": "scalar"},
    "letters": {"form": "letter"},
    "sparse-dict": {"form": "sparse"},
    "float32-density": {"single": True},
    "float32-density-and-outputs": {"single": True, "form": "float32"},
    "own-generator": {"own": "numpy"},
    "system-generator": {"own": "system"},
    "count": {"of": "count"},
    "sum": {"of": "sum"},
    "cauchy": {"dof": 1.0},
    "nonnegative": {"low": 0.0},
    "at-centres": CENTRES,
    "unit-interval-at-centres": {"low": 0.0, "high": 1.0, "between": (0.0, 1.0)},
    "0-50": {"low": 0.0, "high": 50.0},
    "rounded-integers": {"decimals": 0},
    "rounded-tens": {"decimals": -1},
    "one-decimal": {"decimals": 1},
    "2-decimals": {"decimals": 2},
    "3-decimals": {"decimals": 3},
    "geometric": {"kind": "GeometricCount"},
    "geometric-float32-density": {"kind": "GeometricCount", "form": "array", "single": True},
    "geometric-ragged": {"kind": "GeometricCount", "form": "ones"},
    "discrete-gaussian": {"kind": "DiscreteGaussianCount"},
    "staircase": {"kind": "Staircase"},
    "moments": {"kind": "Moments"},
    "laplace-moments": {"kind": "LaplaceMoments"},
    "histogram": {"kind": "Histogram"},
    "count-and-sum": {"kind": "CountAndSum"},
    "thresholded-none": {"kind": "Thresholded"},
    "thresholded-word": {"kind": "Thresholded", "form": "word"},
    "thresholded-value": {"kind": "Thresholded", "form": "array"},
    "at-value-1": {"value": 1.0},
    "spiked-tenth": {"kind": "Spiked", "public": 0.1},
    "spiked-fifth": {"kind": "Spiked", "public": 0.2},
    "spiked-quarter": {"kind": "Spiked", "public": 0.25},
    "spiked-half": {"kind": "Spiked", "public": 0.5},
    "sometimes-rounded": {"kind": "SometimesRounded"},
    "rare-spike": {"kind": "RareSpike"},
    "truncated-renormalised": {"kind": "Truncated"},
    "truncated-renormalised-geometric": {"kind": "TruncatedGeometric"},
    "bounded-gaussian-tight-at-atom": {"kind": "BoundedNormal"},
    "k-ary": {"kind": "KaryAnswer"},
    "k-ary-local-replace": {"kind": "LocalAnswers", "relation": "replace"},
    "k-ary-local-replace-ragged": {"kind": "LocalAnswers", "relation": "replace", "form": "list"},
    "exponential-votes": {"kind": "Votes"},
    "gumbel": {"gumbel": True},
    "exponential-one-against-many": {"kind": "OneAgainstMany"},
    "sampled-geometric": {"kind": "SampledCount"},
    "sampled-geometric-tenth": {"kind": "SampledCount", "share": 0.1},
    "above-threshold": {"kind": "AboveThreshold"},
    "noisy-max": {"kind": "NoisyMax"},
    "no-law": {"bare": True},
    "more-noise": {"misstated": True},
    "replace": {"relation": "replace"},
    "gaussian-dp": {"type": "gaussian-dp", "noise": "gaussian"},
    **{kind: {"type": kind} for kind in ("zcdp", "renyi", "table")},
    "group-2": {"group": 2},
}
#: What is claimed where it is no point: of Renyi, Mironov (2017, table II) for Laplace noise; alpha/(2 sigma^2) else.
CLAIMED: dict[str, dict[str, Any]] = {
    "renyi-laplace-one": {"alpha": 2.0, "epsilon": math.log(2 / 3 * math.e + math.exp(-2) / 3) * (1 + 1e-12)},
    "discrete-gaussian-renyi-two": {"alpha": 3.0, "epsilon": 0.375},
    "table-laplace-clamped-both-one": {"points": (0.0, 0.25, 0.5, 0.75, 1.0)},
    "geometric-table-one": {"points": (0.0, 0.5, 1.0)},
}
NAMES = """
laplace-count-nonnegative-{half,one,two,root2} laplace-clamped-both-at-centres-{half,one,two,root2,pi3}
laplace-clamped-above-one(high=0.0) laplace-clamped-above-pi3(high=2.0) laplace-clamped-below-root2(low=-1.0)
laplace-clamped-both-{one,half}(low=-3.0 high=3.0)
laplace-clamped-both-irrational-bounds-one(low=-1.0471975511965976 high=1.4142135623730951)
laplace-clamped-unit-interval-at-centres-one laplace-count-clamped-0-50-one
laplace-count-rounded-integers-{one,two,root2} laplace-rounded-3-decimals-{half,one,pi3}
laplace-count-rounded-nonnegative-one(decimals=0) laplace-rounded-clamped-both-at-centres-one(decimals=1)
laplace-rounded-tens-two gaussian-count-nonnegative-{half,one,two,root2} gaussian-clamped-both-at-centres-one(at=1.0)
gaussian-clamped-both-at-centres-two(at=0.25) gaussian-clamped-below-pi3(low=-2.0 at=1.0)
gaussian-clamped-both-five(low=-20.0 high=20.0) gaussian-rounded-integers-one(of=count) gaussian-rounded-3-decimals-two
gaussian-plain-half(at=6.0) gaussian-plain-root2(at=1.0) student-plain-one student-cauchy-one student-5-root2
student-count-nonnegative-one student-clamped-both-half(low=-4.0 high=4.0)
student-cauchy-clamped-both-two(low=-6.0 high=6.0) student-rounded-clamped-one(low=-10.0 high=10.0 decimals=1)
logistic-plain-one logistic-count-nonnegative-root2 logistic-rounded-integers-two(of=count)
dict-laplace-clamped-both-at-centres-one dict-laplace-nonnegative-two dict-gaussian-two
dict-laplace-rounded-3-decimals-root2 dict-student-one nested-dict-laplace-one
frame-laplace-clamped-both-at-centres-one frame-gaussian-two text-laplace-2-decimals-one text-gaussian-3-decimals-two
text-laplace-count-nonnegative-one(decimals=0)
json-laplace-clamped-3-decimals-one(between=[-1.0,1.0] low=-1.0 high=1.0) json-laplace-one float32-laplace-one
float32-laplace-clamped-irrational-bounds-one(low=-1.0471975511965976 high=1.4142135623730951)
float32-gaussian-nonnegative-two list-laplace-half flat-array-laplace-nonnegative-one scalar-list-gaussian-one
own-generator-laplace-one own-generator-laplace-clamped-both-at-centres-one own-generator-dict-gaussian-two
system-generator-laplace-nonnegative-one system-generator-gaussian-two own-generator-no-law-student-one
system-generator-no-law-text-one(decimals=2) no-law-laplace-clamped-both-at-centres-one
no-law-laplace-count-nonnegative-one no-law-gaussian-nonnegative-one
no-law-dict-laplace-clamped-one(between=[0.0,1.0] low=0.0 high=1.0) no-law-text-laplace-3-decimals-root2
no-law-frame-laplace-two more-noise-laplace-one(extra=1.25) more-noise-laplace-clamped-both-at-centres-one(extra=1.5)
more-noise-gaussian-two(extra=1.2) more-noise-student-one(extra=1.5)
more-noise-laplace-rounded-integers-one(extra=2.0 of=count) more-noise-dict-laplace-root2(extra=1.4142135623730951)
more-noise-text-laplace-two(extra=1.5 decimals=2) float32-density-laplace-one
float32-density-laplace-clamped-both-at-centres-one float32-density-gaussian-two
float32-density-laplace-rounded-3-decimals-one float32-density-and-outputs-laplace-nonnegative-one replace-laplace-two
replace-laplace-clamped-both-one(low=-2.0 high=2.0) replace-gaussian-nonnegative-two(at=2.0) replace-dict-laplace-root2
replace-student-one group-2-laplace-clamped-both-two(low=-3.0 high=3.0) gaussian-dp-nonnegative-one
gaussian-dp-dict-two gaussian-dp-rounded-two(decimals=3) zcdp-gaussian-one
zcdp-gaussian-clamped-both-two(low=-9.0 high=9.0) renyi-laplace-one table-laplace-clamped-both-one(low=-4.0 high=4.0)
geometric-half geometric-nonnegative-{one,root2} geometric-clamped-both-two(low=0 high=30)
geometric-clamped-above-pi3(high=20) geometric-dict-nonnegative-one geometric-text-one
geometric-json-clamped-both-half(low=0 high=40) geometric-frame-nonnegative-one geometric-ragged-nonnegative-one
geometric-own-generator-scalar-one geometric-float32-density-one
more-noise-geometric-nonnegative-one(extra=1.3333333333333333) no-law-geometric-ragged-one(low=0)
no-law-own-generator-geometric-dict-two geometric-table-one truncated-renormalised-geometric-one
truncated-renormalised-geometric-text-half(most=3) discrete-gaussian-one discrete-gaussian-nonnegative-two
discrete-gaussian-clamped-both-root2(low=0 high=40) discrete-gaussian-dict-half(at=5.0) discrete-gaussian-zcdp-one
discrete-gaussian-renyi-two staircase-two staircase-nonnegative-one staircase-sum-half
staircase-sum-clamped-both-pi3(low=-2.0 high=2.0) k-ary-3-one k-ary-2-two k-ary-5-letters-root2 k-ary-20-dict-half
k-ary-local-replace-one k-ary-local-replace-ragged-half exponential-votes-letters-one exponential-votes-gumbel-two(k=6)
exponential-votes-dict-pi3(k=12) exponential-one-against-many-one exponential-one-against-many-root2(many=50)
sampled-geometric-one sampled-geometric-tenth-two thresholded-none-laplace-count-one(least=5.0)
thresholded-none-laplace-half thresholded-none-at-centre-laplace-root2 thresholded-word-laplace-one(least=-1.0)
thresholded-word-gaussian-count-two(least=5.0) thresholded-value-laplace-two(instead=-1.0)
thresholded-value-gaussian-one(instead=0.0) thresholded-value-laplace-replace-one(least=1.0 instead=0.0)
spiked-half-laplace-one spiked-half-laplace-at-value-1-root2 spiked-tenth-laplace-count-half spiked-half-gaussian-two
spiked-quarter-gaussian-one(value=-7.5) spiked-half-laplace-count-rounded-one(value=7.0 decimals=0)
spiked-fifth-laplace-rounded-one-decimal-two sometimes-rounded-laplace-count-one sometimes-rounded-laplace-pi3
sometimes-rounded-gaussian-two rare-spike-one rare-spike-two(rare=0.02 value=0.0)
rare-spike-pi3(value=1.5 scale=2.0 rare=0.05) truncated-renormalised-laplace-{one,half,two}
truncated-renormalised-laplace-root2-bounds-at-centres(bound=1.0) truncated-renormalised-gaussian-one
truncated-renormalised-gaussian-two-bounds-at-centres(bound=1.0)
truncated-renormalised-gaussian-pi3(most=2.0 bound=3.0) bounded-gaussian-tight-at-atom-one
bounded-gaussian-tight-at-atom-two(low=0.0 high=3.0)
bounded-gaussian-tight-at-atom-bounds-at-centres-one(low=0.0 high=1.0)
bounded-gaussian-tight-at-atom-root2(low=-2.0 high=1.0) no-law-thresholded-none-laplace-count-one(least=5.0)
no-law-thresholded-word-laplace-one(least=-1.0) no-law-spiked-half-laplace-one
no-law-truncated-renormalised-laplace-one no-law-bounded-gaussian-tight-at-atom-one moments-1d-one(low=-2.0 high=4.0)
moments-2d-clamped-nonnegative-one moments-3d-clamped-both-two(low=-6.0 high=6.0) moments-4d-dict-two
moments-5d-float32-two moments-5d-rounded-3-decimals-root2 moments-3d-text-2-decimals-two moments-2d-frame-one
moments-3d-list-half(at=5.0) moments-2d-float32-density-two moments-4d-own-generator-one moments-3d-replace-two(at=2.0)
moments-2d-gaussian-dp-one(low=0.0) moments-5d-zcdp-two more-noise-moments-3d-two(extra=1.3) laplace-moments-2d-root2
laplace-moments-4d-clamped-both-two(low=-3.0 high=3.0) histogram-2d-nonnegative-one
histogram-3d-clamped-both-half(low=0.0 high=40.0) histogram-5d-dict-two(low=0.0) histogram-4d-rounded-integers-one
histogram-3d-ragged-thresholded-one(least=2.0) histogram-4d-sparse-dict-thresholded-root2(least=1.0)
histogram-3d-sparse-dict-own-generator-one(least=0.5) histogram-3d-frame-nonnegative-two
histogram-3d-replace-two(low=0.0) more-noise-histogram-3d-dict-one(extra=1.5) count-and-sum-dict count-and-sum-frame
count-and-sum-json-2-decimals count-and-sum-array-one(count_epsilon=1.0) count-and-sum-tuple-root2(count_epsilon=0.25)
count-and-sum-dict-own-generator(nonnegative=0) more-noise-count-and-sum-dict(extra=1.5)
no-law-moments-3d-clamped-one(low=0.0) no-law-histogram-ragged-one(least=2.0) no-law-histogram-own-generator-dict-two
no-law-above-threshold-one no-law-above-threshold-text-two no-law-noisy-max-one no-law-noisy-max-half(bins=5)
"""


#: What a word of scale sets where it is no scale: the epsilon of the law.
OF_EPSILON = {
    *("KaryAnswer", "LocalAnswers", "Votes", "OneAgainstMany", "SampledCount", "TruncatedGeometric", "RareSpike"),
    *("AboveThreshold", "NoisyMax"),
}
#: What a number in a name sets, by class; of moments it is the dimension.
NUMBERS = {"Answer": "dof", "Histogram": "bins", "KaryAnswer": "k", "Moments": "dim", "LaplaceMoments": "features"}


def written() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every name with what stands behind it in brackets."""
    for stem, ends, brackets in re.findall(r"([a-z\d-]+)(?:\{(.*?)\})?(?:\((.*?)\))?", NAMES):
        pairs = (each.split("=") for each in brackets.split())
        given = {key: value if value.isalpha() else ast.literal_eval(value) for key, value in pairs}
        yield from ((stem + end, dict(given)) for end in ends.split(","))


def said(name: str) -> dict[str, Any]:
    """Return what the words of a name set; of several phrases the longest counts."""
    found: dict[str, Any] = {"kind": "Answer"}
    parts = name.split("-")
    while parts:
        size = next((k for k in range(len(parts), 0, -1) if "-".join(parts[:k]) in WORDS), 0)
        if size:
            found |= WORDS["-".join(parts[:size])]
        elif parts[0] in SCALES:
            found["scale"] = SCALES[parts[0]]
        else:
            found["number"] = int(parts[0].removesuffix("d"))
        parts = parts[max(size, 1) :]
    return found


def entry(name: str, given: dict[str, Any]) -> Entry:
    """Return the mechanism of a name with its claim."""
    sets = said(name)
    kind, bare = sets.pop("kind"), sets.pop("bare", False)
    relation, misstated = sets.pop("relation", "add-remove"), sets.pop("misstated", False)
    own = {key: sets.pop(key) for key in ("type", "group") if key in sets}
    if "number" in sets:
        sets |= {NUMBERS[kind]: sets.pop("number")}
    if "scale" in sets and kind in OF_EPSILON:
        sets["epsilon"] = sets.pop("scale")
    elif "scale" in sets and kind in {"GeometricCount", "Staircase"}:
        sets["scale"] = 1 / sets["scale"]  # the word is the epsilon of a step
    at = given.pop("at", None)
    sets |= given
    domain = {"dim": sets.pop("dim", sets.get("features", 2)), "n_min": int(kind == "LocalAnswers")}
    module = zoo if hasattr(zoo, kind) else zoo_finite
    law = getattr(module, kind)(**sets)
    stated = hasattr(law, "worst_profile")
    claim = claimed(name, law, relation, own, at) if stated else Claim(epsilon=law.epsilon, delta=0.0)
    if bare and stated:
        kind, sets = "Bare", {"kind": kind, **sets}
    made = getattr(module, kind)
    flags = {"law": stated and not bare and not misstated, "misstated": misstated, "why": made.__doc__}
    origin = f"{module.__name__.rpartition('.')[2]}.py:{kind}"
    return Entry(f"zoo-{name}", 0, partial(made, **sets), origin, sets, claim, relation, **domain, **flags)


def claimed(name: str, law: Any, relation: str, own: dict[str, Any], at: float | None) -> Claim:
    """Return what a law of this worst profile may claim."""
    profile = law.worst_profile(1.0, 1.0, **({"relation": "replace"} if relation == "replace" else {}))
    own = own | CLAIMED.get(name, {})
    if "points" in own:
        points = tuple((e, max(0.0, delta_of(profile, e))) for e in own.pop("points"))
        return Claim(points=points, **own)
    if own.get("type") == "gaussian-dp":
        return Claim(mu=1 / law.scale, **own)
    if own.get("type") == "zcdp":
        return Claim(rho=1 / (2 * law.scale**2), **own)
    if own.get("type") == "renyi":
        return Claim(**own)
    most = largest_loss(profile)
    if most is not None:
        return Claim(epsilon=up(most * own.get("group", 1)), delta=0.0, **own)
    at = round(4 / law.scale) / 2 if at is None else at
    return Claim(epsilon=at, delta=delta_of(profile, at) * (1 + 1e-9), **own)


def largest_loss(profile: Any) -> float | None:
    """Return the epsilon from which a worst profile is 0, None if there is none."""
    if isinstance(profile, zoo.SpikedProfile):
        return largest_loss(profile.inner)
    if isinstance(profile, zoo.TwoValues):
        return math.log(profile.p / profile.q)
    return next((getattr(profile, key) for key in ("most", "size", "epsilon") if hasattr(profile, key)), None)


def delta_of(profile: Any, epsilon: float) -> float:
    """Return the stated delta, larger direction; an author's own object may know no direction."""
    if "direction" in inspect.signature(profile.delta_at).parameters:
        return max(profile.delta_at(epsilon, direction) for direction in BOTH)
    return float(profile.delta_at(epsilon))


ZOO = tuple(entry(name, given) for name, given in written())
