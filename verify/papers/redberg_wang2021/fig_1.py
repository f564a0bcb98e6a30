"""RW21, Figure 1: which term of the ex-post loss dominates when the output is rotated away from the minimiser."""

from ...figures.figure_page import stream
from ...kernel.evidence import data_missing, float_evidence
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement
from .figures import rw21_fig_1 as drawn

#: Epsilons whose sigma (Theorem 5) is shown where the unstated sigma decides.
SIGMAS_AT = (0.1, 0.35, 1.0, 10.0)
ANGLES = dict(zip(drawn.WORDS, drawn.ANGLES, strict=True))


def _terms_at(data: int, omega: str) -> drawn.Terms:
    """Return the terms of every record at one rotation of the minimiser."""
    dataset = drawn.data(stream(data, "RW21-F1"))
    return drawn.terms(dataset, drawn.rotated(drawn.minimiser(dataset), ANGLES[omega]))


def _of(case: Case) -> tuple[drawn.Terms, float]:
    return _terms_at(case.whole("data"), case.text("omega")), drawn.sigma_at(case.number("epsilon"))


def _small(case: Case) -> Evidence:
    """Decide the joint claim: the first term dominates and the points nearest the boundary lose most."""
    terms, sigma = _of(case)
    value = terms.first_share(sigma) if terms.worst_is_near_the_boundary(sigma) else 0.0
    return float_evidence("share of the first term in the sum of sizes", value, 0.5, 1.0, 0.5, {"sigma": sigma})


def _large(case: Case) -> Evidence:
    terms, sigma = _of(case)
    share = terms.first_share(sigma)
    return float_evidence("share of the first term in the sum of sizes", share, 0.0, 0.5, 0.5, {"sigma": sigma})


def _order(case: Case) -> Evidence:
    terms, sigma = _of(case)
    value = terms.rank_correlation(sigma)
    return float_evidence("rank correlation of the loss with minus the margin", value, 1e-6, 1.1, 0.0)


def _between(case: Case) -> Evidence:
    terms, sigmas = _terms_at(1, "pi/12"), [drawn.sigma_at(epsilon) for epsilon in SIGMAS_AT]
    shares = {f"share at sigma={sigma:.3g}": terms.first_share(sigma) for sigma in sigmas}
    return data_missing("share of the first term at pi/12", "sigma is not stated, and it sets the share", shares)


BUDGETS = (0.1, 1.0, 10.0)
LONE = {"epsilon": 1.0, "data": 1}
FAR = over("omega >= pi/2", {"omega": ("pi/2", "3 pi/4", "pi"), "epsilon": BUDGETS, "data": (1, 2)})

STATEMENT = statement(
    "RW21-F1",
    domain="n = 1000, d = 2, unit ball, separable with margin 0.4, lambda = 1; sigma not stated. Decided for the sigma of Theorem 5 at "
    "epsilon = 0.1 to 10, delta = 1e-6 (108 to 1.25), one more copy of the record",
    summary="At the minimiser the first term dominates and the points nearest the boundary lose most; from pi/2 on the others "
    "dominate and badly predicted points lose more. Where it turns is set by sigma, which is not stated: at pi/12 the "
    "first term's share is 0.01 at sigma = 1.25 and 0.99 at 108. With sigma about 31 the text is right for every angle.",
    displays={
        "#no rotation": Display(
            "at the minimiser",
            Form(
                'omega = 0: quad "the first term dominates, points nearest the boundary lose most"',
                _small,
                over("omega = 0", {"omega": ("0",), "epsilon": BUDGETS, "data": (1, 2, 3)}),
            ),
            mutants={"rotated by a right angle": Mutant(_small, LONE | {"omega": "pi/2"})},
        ),
        "#small rotations": Display(
            "up to pi/12", Form('omega <= pi/12: quad "the same"', _between, [At("sigma not stated")])
        ),
        "#large rotations": Display(
            "large rotations: the second and third term dominate",
            Form('omega >= pi/2: quad "the second and third term dominate"', _large, FAR),
            mutants={
                "not rotated": Mutant(_large, LONE | {"omega": "0"}),
                "sigma of epsilon = 0.01": Mutant(_large, LONE | {"epsilon": 0.01, "omega": "pi/2"}),
            },
        ),
        "#order": Display(
            "large rotations: the worse predicted, the larger the loss",
            Form('omega >= pi/2: quad epsilon_1 "rises as" y x^T hat(theta) "falls (rank correlation)"', _order, FAR),
        ),
    },
    figures=lambda seed: drawn.page(seed).figures,
)
