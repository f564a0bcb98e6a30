"""The displays in the proof of W19, Theorem 4.1, as printed and corrected."""

from __future__ import annotations

from ..statement import Formula, Part

ID = "W19-T4.1p"
IDS = tuple(f"{ID}#{name}" for name in ("out", "in", "tail", "last", "det", "A.2", "A.1", "covariance"))
OUT, IN, TAIL, LAST, RANK, INVERSE, CENTRED, COVARIANCE = IDS
_DERIVATION = "docs/derivations/wang2019_sections_2_3.md, proof of Theorem 4.1"
_LOG = "log p(theta | X, bold(y))/p(theta | X', bold(y)') = "
_LOG_TEXT = "log p(theta|X, y)/p(theta|X', y') = "
_IN = "log(sqrt(1 - mu')) + gamma/2 [(y - x^T theta)^2 - (1 - mu')^(-1) (y - x^T hat(theta)')^2]"
_IN_TEXT = "log sqrt(1 - mu') + gamma/2 [(y - x'theta)^2 - (y - x'theta_hat')^2/(1 - mu')]"

PARTS = (
    Part(
        OUT,
        "log density ratio, out of sample",
        Formula(
            _LOG + "log sqrt((1 + mu)^(-1)) + gamma/2 [(y - x^T theta)^2 - (1 + mu)^(-1) (y - x^T hat(theta))^2]",
            _LOG_TEXT + "-1/2 log(1 + mu) + gamma/2 [(y - x'theta)^2 - (y - x'theta_hat)^2/(1 + mu)]",
        ),
    ),
    Part(
        IN,
        "log density ratio, in sample",
        Formula(_LOG + "-" + _IN, _LOG_TEXT + "-" + _IN_TEXT),
        corrected=Formula(_LOG + _IN, _LOG_TEXT + _IN_TEXT),
        what_went_wrong="The sign of the logarithm: |H|/|H'| = 1 - mu', so its root enters with a plus.",
        derivation=_DERIVATION,
    ),
    Part(
        TAIL,
        "the tail step",
        Formula(
            "Pr(abs(x^T theta - x^T hat(theta)) > sqrt(mu/gamma log(2/delta))) <= (2 e^(-log(2/delta)))/log(2/delta)",
            "P(|x'theta - x'theta_hat| > sqrt(mu/gamma log(2/delta))) <= 2 exp(-log(2/delta))/log(2/delta)",
        ),
        corrected=Formula(
            "Pr(abs(x^T theta - x^T hat(theta)) > sqrt((2 mu)/gamma log(2/delta))) <= (2 e^(-log(2/delta)))/sqrt(2 log(2/delta)) = delta/sqrt(2 log(2/delta)) <= delta",
            "P(|x'theta - x'theta_hat| > sqrt(2 mu/gamma log(2/delta))) <= 2 exp(-log(2/delta))/sqrt(2 log(2/delta)) <= delta",
        ),
        what_went_wrong="Lemma B.5 is applied at log(2/delta) in place of its root, and without the 1/2 of the exponent.",
        derivation=_DERIVATION,
    ),
    Part(
        LAST,
        "the last step of the tail",
        Formula(
            '(2 e^(-log(2/delta)))/log(2/delta) = delta/log(2/delta) <= delta quad "when" delta < 2\\/e',
            "2 exp(-log(2/delta))/log(2/delta) = delta/log(2/delta) <= delta when delta < 2/e",
        ),
    ),
    Part(
        RANK,
        "determinants",
        Formula(
            "abs(H') = abs(H) (1 + mu), quad abs(H) = abs(H') (1 - mu')",
            "det H' = det H (1 + mu), det H = det H' (1 - mu')",
        ),
    ),
    Part(
        INVERSE,
        "(A.2), the inverse without the target",
        Formula(
            "H^(-1) = [H']^(-1) + [H']^(-1) x (1 - mu')^(-1) x^T [H']^(-1)",
            "H^-1 = H'^-1 + H'^-1 x (1 - mu')^-1 x^T H'^-1",
        ),
    ),
    Part(
        CENTRED,
        "(A.1), the difference of the quadratic forms",
        Formula(
            "norm(theta - hat(theta)')_(H')^2 - norm(theta - hat(theta))_H^2 = (x^T theta)^2 + (bold(y)')^T X' [H']^(-1) X'^T bold(y)' - "
            "bold(y)^T X (H)^(-1) X^T bold(y) - 2 y (x^T theta)",
            "||theta - theta_hat'||_H'^2 - ||theta - theta_hat||_H^2 = (x'theta)^2 + y''X'H'^-1 X'^T y' - y'X H^-1 X^T y - 2 y x'theta",
        ),
    ),
    Part(
        COVARIANCE,
        "text: the covariances",
        Formula('"covariances" H\\/gamma, H\'\\/gamma', "the covariances are H/gamma and H'/gamma"),
        corrected=Formula(
            '"covariances" H^(-1)\\/gamma, [H\']^(-1)\\/gamma', "the covariances are H^-1/gamma and H'^-1/gamma"
        ),
        what_went_wrong="The precision matrices are named for the covariances.",
        derivation=_DERIVATION,
    ),
)
