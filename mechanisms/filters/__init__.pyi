"""The public names, each with the module that holds it."""

from .filtered_training import FilteredInteraction as FilteredInteraction
from .filtered_training import GradientStep as GradientStep
from .filtered_training import RecordStep as RecordStep
from .filtered_training import StatisticsStep as StatisticsStep
from .privacy_filters import Filter as Filter
from .privacy_filters import GaussianFilter as GaussianFilter
from .privacy_filters import RenyiFilter as RenyiFilter
from .privacy_filters import RenyiOdometer as RenyiOdometer

MECHANISMS: tuple[str, ...]
