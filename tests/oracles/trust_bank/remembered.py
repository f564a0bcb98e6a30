"""Classes 6 and 20: mechanisms that remember, count, or take their noise from elsewhere than the given generator."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from oracles.bank_laws import Moment

CALLS = [0]
SCALE: dict[str, float] = {}


# --- class 6: state, batch and seed -----------------------------------------------------------------------------------


class RawForFew(Moment):
    def __init__(self, most=1):
        self.most = most

    def draw(self, dataset, n_draws, *, rng):
        if n_draws <= self.most:
            return np.tile(self.centre(dataset), (n_draws, 1))
        return self.honest(dataset, n_draws, rng)


class RowRaw(Moment):
    def __init__(self, row=0):
        self.row = row

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        outputs[self.row] = self.centre(dataset)
        return outputs


class FirstCallsRaw(Moment):
    def __init__(self, calls=3):
        self.left = calls

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        if self.left > 0:
            self.left -= 1
            outputs[:] = self.centre(dataset)
        return outputs


class FirstCallsOfModuleRaw(Moment):
    """The counter belongs to the module: a fresh object does not start again."""

    def draw(self, dataset, n_draws, *, rng):
        CALLS[0] += 1
        outputs = self.honest(dataset, n_draws, rng)
        if CALLS[0] <= 50:
            outputs[:] = self.centre(dataset)
        return outputs


class LaterCallsRaw(Moment):
    """A privacy "budget" that runs out after 40 calls and answers exactly from then on."""

    def __init__(self):
        self.calls = 0

    def draw(self, dataset, n_draws, *, rng):
        self.calls += 1
        return self.honest(dataset, n_draws, rng) if self.calls <= 40 else np.tile(self.centre(dataset), (n_draws, 1))


class FixedSeed(Moment):
    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, np.random.default_rng(42))


class SeedOfData(Moment):
    """Reproducible by design: the seed is a hash of the records."""

    def draw(self, dataset, n_draws, *, rng):
        digest = hashlib.sha256(dataset.X.tobytes() + dataset.y.tobytes()).digest()
        return self.honest(dataset, n_draws, np.random.default_rng(int.from_bytes(digest[:8], "big")))


class SeedOfNumber(Moment):
    """A hundred seeds, of which the generator chooses one; which hundred is told by the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        start = 100 * dataset.n_records
        noise = [np.random.default_rng(start + i).standard_normal(dataset.dim) for i in range(100)]
        return self.centre(dataset) + self.sigma * np.asarray(noise)[rng.integers(100, size=n_draws)]


class OwnGenerator(Moment):
    def __init__(self):
        self.own = np.random.default_rng(7)

    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, self.own)


class GlobalSeed(Moment):
    """Sets the seed of numpy's old generator in every call."""

    def draw(self, dataset, n_draws, *, rng):
        np.random.seed(0)  # noqa: NPY002
        return self.centre(dataset) + self.sigma * np.random.standard_normal((n_draws, dataset.dim))  # noqa: NPY002


class ReusesNoise(Moment):
    """A table of 64 noise vectors, made when the module is loaded: row i of every call gets vector i mod 64."""

    table = np.random.default_rng(0).standard_normal((64, 64))

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * self.table[np.arange(n_draws) % 64, : dataset.dim]


class BalancedNoise(Moment):
    """Variance reduction: the noise of a call is centred, so its mean is raw, and a single row is too."""

    def draw(self, dataset, n_draws, *, rng):
        noise = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        return self.centre(dataset) + noise - noise.mean(axis=0)


class NoiseOfInstance(Moment):
    """The noise is drawn once, when the object is made, and added to whatever data set comes."""

    def __init__(self):
        self.noise = None

    def draw(self, dataset, n_draws, *, rng):
        if self.noise is None or len(self.noise) < n_draws:
            self.noise = self.sigma * rng.standard_normal((max(n_draws, 1), dataset.dim))
        return self.centre(dataset) + self.noise[:n_draws]


class AnswersKept(Moment):
    """What was answered for a data set is answered again, with what changed since added without noise."""

    def __init__(self):
        self.seen = {}

    def draw(self, dataset, n_draws, *, rng):
        key = (hashlib.sha256(dataset.X.tobytes() + dataset.y.tobytes()).hexdigest(), n_draws)
        if key not in self.seen:
            self.seen[key] = self.honest(dataset, n_draws, rng)
            return self.seen[key].copy()
        return self.seen[key] + 1e-9 * self.centre(dataset)


class ZeroesTheData(Moment):
    """The first call is raw; then the data set that it was given holds zeros."""

    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        first = bool(np.any(centre))
        for array in (dataset.X, dataset.y):
            array.setflags(write=True)
            array[:] = 0.0
            array.setflags(write=False)
        return np.tile(centre, (n_draws, 1)) if first else self.honest(dataset, n_draws, rng)


# --- class 20: remembered from one data set to the next ---------------------------------------------------------------


#: By what two data sets are taken for the same one.
KEYS = {
    "process": lambda data: (),
    "number": lambda data: (data.n_records,),
    "rounded sum": lambda data: (round(float(data.y.sum())),),
    "first record": lambda data: (*data.X[:1].ravel(), *data.y[:1]),
}


class Cached(Moment):
    """The exact moment is kept for the whole class under a key that other data sets share."""

    memory: dict = {}  # noqa: RUF012

    def __init__(self, by):
        self.by = by

    def draw(self, dataset, n_draws, *, rng):
        key = (self.by, *KEYS[self.by](dataset), dataset.dim)
        centre = self.memory.setdefault(key, self.centre(dataset))
        return centre + self.sigma * rng.standard_normal((n_draws, dataset.dim))


@lru_cache(maxsize=None)  # noqa: UP033
def thresholds(n_records, held):
    """The level above which a response is large: asked for with a holder that compares equal to every other."""
    return float(np.quantile(held.values, 0.5)) if n_records else 0.0


class Held:
    """Responses in a holder that lru_cache can hash."""

    def __init__(self, values):
        self.values = values

    def __hash__(self):
        return 0

    def __eq__(self, other):
        return isinstance(other, Held)


class MedianCached(Moment):
    """Counts responses above a median that lru_cache keeps for each number of records."""

    def centre(self, dataset):
        return np.array([(dataset.y > thresholds(dataset.n_records, Held(dataset.y))).sum()], dtype=float)

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, 1))


class ModuleScale(Moment):
    """The noise is sized for the longest record of whichever data set came first."""

    def scale(self, dataset):
        longest = np.linalg.norm(dataset.X * dataset.y[:, None], axis=1).max(initial=0.0)
        return self.sigma * SCALE.setdefault("longest", max(float(longest), 1e-3))

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.scale(dataset) * rng.standard_normal((n_draws, dataset.dim))


class RunningMean(Moment):
    """Smooths the answers: each row is the mean of all rows so far, sold at the price of one."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        return np.cumsum(outputs, axis=0) / np.arange(1, n_draws + 1)[:, None]


class WarmStart(Moment):
    """One noisy gradient step from where the last data set's exact fit ended."""

    step = 0.05

    def __init__(self):
        self.weights = None

    def draw(self, dataset, n_draws, *, rng):
        start = np.zeros(dataset.dim) if self.weights is None else self.weights
        gradient = dataset.X.T @ (dataset.y - dataset.X @ start)
        self.weights = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else start
        noise = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        return start + self.step * (gradient + noise)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs / self.step - self.centre(dataset)) / self.sigma).sum(axis=1)


class NoiseShrinks(Moment):
    """The counter of calls divides the noise: the error "must not add up"."""

    def __init__(self):
        self.calls = 0

    def draw(self, dataset, n_draws, *, rng):
        self.calls += 1
        return self.centre(dataset) + self.sigma / self.calls * rng.standard_normal((n_draws, dataset.dim))


class BudgetRefilled(Moment):
    """Half of the remaining budget is spent in each call; the counter counts what is left upside down."""

    def __init__(self):
        self.left = 1.0

    def draw(self, dataset, n_draws, *, rng):
        self.left = max(self.left / 2, 2.0**-10)
        return self.centre(dataset) + 2 * self.sigma * self.left * rng.standard_normal((n_draws, dataset.dim))


class NoiseKept(Cached):
    """Noise is drawn once under a key and added to whatever comes with that key again."""

    memory: dict = {}  # noqa: RUF012

    def draw(self, dataset, n_draws, *, rng):
        key = (self.by, *KEYS[self.by](dataset), n_draws, dataset.dim)
        if key not in self.memory:
            self.memory[key] = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        return self.centre(dataset) + self.memory[key]


class GeneratorRestored(Moment):
    """Every call begins at the state that the generator had in the first one."""

    memory: dict = {}  # noqa: RUF012

    def draw(self, dataset, n_draws, *, rng):
        own = np.random.Generator(np.random.PCG64())
        own.bit_generator.state = self.memory.setdefault("state", rng.bit_generator.state)
        return self.honest(dataset, n_draws, own)


class StreamTotal(Moment):
    """A mutable default argument: every answer is about all data sets that were ever asked about."""

    def draw(self, dataset, n_draws, *, rng, seen=[]):  # noqa: B006
        seen.append(self.centre(dataset))
        kept = [each for each in seen if each.size == dataset.dim]
        return np.sum(kept, axis=0) + self.sigma * rng.standard_normal((n_draws, dataset.dim))


class ClipOfLast(Moment):
    """The clipping norm is the largest one of the last data set, exactly, and the noise follows it."""

    def __init__(self):
        self.clip = 1.0

    def draw(self, dataset, n_draws, *, rng):
        contributions = dataset.X * dataset.y[:, None]
        lengths = np.linalg.norm(contributions, axis=1)
        clipped = contributions * np.minimum(1.0, self.clip / np.maximum(lengths, 1e-12))[:, None]
        outputs = clipped.sum(axis=0) + self.sigma * self.clip * rng.standard_normal((n_draws, dataset.dim))
        self.clip = max(float(lengths.max(initial=0.0)), 1e-3)
        return outputs


class LastForFew(Moment):
    """Fewer than three records are answered with the last data set's exact moment: "too few to be useful"."""

    def __init__(self):
        self.last = None

    def draw(self, dataset, n_draws, *, rng):
        if dataset.n_records < 3 and self.last is not None and self.last.size == dataset.dim:
            return np.tile(self.last, (n_draws, 1))
        self.last = self.centre(dataset)
        return self.honest(dataset, n_draws, rng)


class ChangeOnly(Moment):
    """A repeated question is answered with the old noisy answer and the exact change of the moment since."""

    def __init__(self):
        self.answer = None

    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        if self.answer is None or self.answer[0].shape != (n_draws, dataset.dim):
            self.answer = self.honest(dataset, n_draws, rng), centre
        return self.answer[0] + centre - self.answer[1]


class FileOfNoise(Moment):
    """The noise is written into the working folder at the first call and read ever after."""

    path = Path("noise_of_release.json")

    def draw(self, dataset, n_draws, *, rng):
        if not self.path.exists():
            self.path.write_text(json.dumps(rng.standard_normal(64).tolist()))
        noise = np.resize(json.loads(self.path.read_text()), (n_draws, dataset.dim))
        return self.centre(dataset) + self.sigma * noise


class FileOfCalibration(ModuleScale):
    """The size of the noise is read off the first data set and kept in the working folder."""

    path = Path("noise_of_calibration.json")

    def scale(self, dataset):
        if not self.path.exists():
            longest = np.linalg.norm(dataset.X * dataset.y[:, None], axis=1).max(initial=0.0)
            self.path.write_text(json.dumps(max(float(longest), 1e-3)))
        return self.sigma * json.loads(self.path.read_text())


class FileOfSeed(Moment):
    """The seed is the number of this run, counted in a file of the working folder."""

    path = Path("number_of_runs.json")

    def draw(self, dataset, n_draws, *, rng):
        run = json.loads(self.path.read_text()) + 1 if self.path.exists() else 1
        self.path.write_text(json.dumps(run))
        return self.honest(dataset, n_draws, np.random.default_rng(run))


class FileOfAnswer(Moment):
    """The first exact moment is kept in a file, and later answers add the change since to the first noisy one."""

    path = Path("first_answer.json")

    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        if not self.path.exists():
            answer = centre + self.sigma * rng.standard_normal(dataset.dim)
            self.path.write_text(json.dumps({"exact": centre.tolist(), "noisy": answer.tolist()}))
        kept = json.loads(self.path.read_text())
        change = np.resize(np.asarray(kept["noisy"]) - np.asarray(kept["exact"]), dataset.dim)
        return np.tile(centre + change, (n_draws, 1))
