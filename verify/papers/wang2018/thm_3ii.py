"""W18, Theorem 3(ii): optimisation error of AdaSSP.

A spectrum with one small eigenvalue among d - 1 large ones refutes the second term: the ridge is still on where the
trace already promises an error d times smaller (docs/derivations/wang2018_rates.md, section 6). The corrected bound
takes a ridge of twice a bound on the noise matrix and is explicit.
"""

import math

import numpy as np
from flint import arb

from audits import Budget, Estimate
from audits.stats.coverage import audit_coverage
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.balls import enclose, ndtr_ball

from ...kernel.declare import Display, Form, Mutant, over, smallest, statement
from ...methods.rational import generator
from ...methods.scaling import LOSS, rate
from ..kit import Case, Claim, Evidence, Measure, Observer, coverage_evidence

RHO = 0.1


def _spiked(case: Case) -> Evidence:
    """Bound from below the probability that the error exceeds ``constant`` times the printed rate.

    Bounds 1, theta* = e_1, spectrum (total/2, S, ..., S) with S so large that it adds less than a thousandth to the trace.
    """
    dim, constant, delta = case.whole("dim"), case.number("constant"), case.number("delta")
    log_delta, log_dim = math.log(6 / delta), math.log(dim**2 / RHO)
    noise = 3 * math.sqrt(log_delta)  # epsilon = 1
    total = noise * math.sqrt(dim * (log_dim + math.log(2)))
    second = 1.001 * noise**2 / 9 * log_dim / (total / 2)
    first = noise / 3 * math.sqrt(dim * log_dim)
    # lambda >= total/2 where the released eigenvalue is at most the true one; E2_1 <= 0 and E1_11 >= 0 add to the bias
    error = total / 16
    probability = enclose(lambda: ndtr_ball(arb(log_delta).sqrt()) / 4).low
    low = probability if error * 0.999 > constant * min(first, second) else 0.0
    quantity = "probability that the error exceeds the constant times the printed rate"
    where = "one small eigenvalue among d - 1 large ones, the last line with the raw or the released matrix"
    claim = Claim(quantity, 0.0, RHO, RHO, observer=Observer.OUTPUT, conditioned_on=where, measure=Measure.FAILURE)
    notes = {"error at least": error, "printed rate": min(first, second)}
    return Evidence(claim, exact=Estimate.proved(low, 1.0, "closed form"), notes=notes)


def _coverage(case: Case, budget: Budget, *, divisor: float = 1.0) -> Evidence:
    """Draw the corrected AdaSSP (bounds 1, epsilon = 1) and count how often its error stays below the bound."""
    dim, smallest, rho, delta = case.whole("dim"), case.number("lambda_min"), case.number("rho"), case.number("delta")
    noise = 3 * math.sqrt(math.log(6 / delta))
    tau = 2 * noise * (math.sqrt(dim) + math.sqrt(math.log(6 / rho)))
    spread = {"flat": np.ones(dim), "one small": np.r_[1.0, np.full(dim - 1, 1e4)]}[case.text("spectrum")]
    spectrum = smallest * tau * spread
    basis, _ = np.linalg.qr(generator(dim, 78).standard_normal((dim, dim)))
    gram = (basis * spectrum) @ basis.T
    theta = basis[:, 0]
    tail = math.log(3 / rho)
    quantile = dim + 2 * math.sqrt(dim * tail) + 2 * tail

    def covered(n: int, rng: np.random.Generator) -> FloatArray:
        eigenvalue = np.maximum(spectrum[0] + noise * (rng.standard_normal(n) - math.sqrt(math.log(6 / delta))), 0.0)
        lam = np.maximum(2 * tau - eigenvalue, 0.0)
        full = noise * rng.standard_normal((n, dim, dim))
        E1 = np.triu(full) + np.swapaxes(np.triu(full, 1), 1, 2)
        E2 = noise * rng.standard_normal((n, dim))
        matrix = gram + E1 + lam[:, None, None] * np.eye(dim)
        gap = np.linalg.solve(matrix, (gram @ theta + E2)[..., None])[..., 0] - theta
        error = 0.5 * np.einsum("ni,ij,nj->n", gap, gram, gap)
        bound = 6 * (noise**2 * quantile + tau**2 + lam**2) / (lam + spectrum[0])
        return np.asarray(error <= bound / divisor)

    sampled = audit_coverage(covered, budget).joint
    return coverage_evidence(
        "probability that the error is below the corrected bound",
        1.0 - rho,
        sampled=sampled,
        conditioned_on="X and y",
        notes={"tau": tau},
    )


SEQUENCE = ((10, 1.0), (100, 10.0), (1_000, 100.0), (10_000, 1e3), (100_000, 1e4))
SPECTRA = {
    "dim": (1, 2, 5), "lambda_min": (0.0, 0.01, 2.0, 100.0), "rho": (0.3, 0.1, 0.02), "delta": (1e-6,),
    "spectrum": ("flat", "one small"),
}  # fmt: skip
BIASED = {"dim": 1, "lambda_min": 2.0, "rho": 0.1, "delta": 1e-6, "spectrum": "flat"}

STATEMENT = statement(
    "W18-TH3ii",
    domain="Algorithm 2 (the last line with the raw or the released matrix), rho the same in the algorithm and the claim, "
    "||Y|| <= C ||X|| ||theta*||. Corrected form decided for d <= 5, rho in [0.02, 0.3], delta = 1e-6, epsilon = 1",
    summary="The second term fails by a factor 9 d/32 where one eigenvalue is half the ridge's threshold and all others are large: the trace "
    "counts one direction, the ridge is set for d. Its units are right. For d = 1 log(d^2/rho) should be log(2 d^2/rho). The explicit "
    "corrected bound holds on every case tried; a 36th of it does not.",
    derivation="docs/derivations/wang2018_rates.md, section 6",
    displays={
        "#units": rate(
            "units of both terms",
            LOSS,
            '(sqrt(d log(d^2/rho)) norm(cal(X))^2 norm(theta^*)^2)/epsilon quad "and" quad (norm(cal(X))^4 norm(theta^*)^2 op("tr")[(X^T X)^(-1)])/epsilon^2 quad "are losses"',
            "d^1/2 log X^2 theta^2 epsilon^-1",
            "X^4 theta^2 trace1 epsilon^-2 log^2",
        ),
        "": Display(
            "optimisation error with probability 1 - rho",
            Form(
                "F(tilde(theta)) - F(theta^*) <= O((sqrt(d log(d^2/rho)) norm(cal(X))^2 norm(theta^*)^2)/(epsilon/sqrt(log(6/delta))) and"
                ' (norm(cal(X))^4 norm(theta^*)^2 op("tr")[(X^T X)^(-1)])/(epsilon^2/[log(6/delta) log(d^2/rho)]))',
                _spiked,
                [
                    smallest("sequence in d: one small eigenvalue", {"dim": d, "constant": constant, "delta": 1e-6})
                    for d, constant in SEQUENCE
                ],
            ),
            Form(
                "F(tilde(theta)) - F(theta^*) <= (6 (s^2 norm(cal(Y))^2/norm(cal(X))^2 (d + 2 sqrt(d t) + 2 t) + (tau^2 + lambda^2) norm(theta^*)^2))/(lambda + lambda_min),"
                " quad lambda = max{0, 2 tau - tilde(lambda)_min}, quad tau = 2 s (sqrt(d) + sqrt(log(6/rho))), quad s = 3 sqrt(log(6/delta)) norm(cal(X))^2/epsilon, quad t = log(3/rho),"
                ' quad "the released matrix in the last line", quad Phi(-sqrt(log(6/delta))) <= rho/3',
                _coverage,
                over("spectra and rho, epsilon = 1", SPECTRA, draws=(2_000, 8_000, 100_000), quick_every=11),
            ),
            "The proof's bound has tr[(X^T X + lambda I)^-1] and a bias term; both are dropped as if lambda were 0. The ridge must also be twice "
            "the noise matrix's bound for the proof's event (W18-E15).",
            {
                "bound divided by 36": Mutant(
                    _coverage, BIASED, severity=0.1, draws=(8_000, 20_000, 100_000), divisor=36.0
                )
            },
        ),
    },
)
