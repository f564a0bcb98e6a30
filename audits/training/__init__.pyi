"""The public names, each with the module that holds it."""

from .canary import audit_canary as audit_canary
from .canary import claim_from_scores as claim_from_scores
from .canary import epsilon_from_scores as epsilon_from_scores
from .canary import gradient_canary as gradient_canary
from .final_model import audit_final_model as audit_final_model
from .final_model import final_model_canary as final_model_canary
from .final_model import final_model_epsilon as final_model_epsilon
from .many_canaries import audit_canaries as audit_canaries
from .one_run import OneRunBound as OneRunBound
from .one_run import OneRunCurveBound as OneRunCurveBound
from .one_run import OneRunCurveTest as OneRunCurveTest
from .one_run import one_run_bound as one_run_bound
from .one_run import one_run_curve as one_run_curve
from .one_run import one_run_gaussian_bound as one_run_gaussian_bound
from .one_run import planned_guesses as planned_guesses
from .planned_event import ScoredMechanism as ScoredMechanism
