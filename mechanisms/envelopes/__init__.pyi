"""The public names, each with the module that holds it."""

from .gaussian_envelopes import gaussian_envelope as gaussian_envelope
from .gaussian_envelopes import posterior_envelope as posterior_envelope
from .loss_points import noise_points as noise_points
from .loss_points import output_points as output_points
