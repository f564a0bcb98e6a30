"""The configuration of ``certify`` for a mechanism that was chosen by ``compare``, with its numbers at one promise."""

from __future__ import annotations

import itertools
import math
import os
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
from pydantic import ValidationError

from mechanisms import Mechanism
from mechanisms.capabilities import Domain
from mechanisms.catalogue import parameters
from mechanisms.offers import Offer, Promise, offers, standing
from mechanisms.parameters import Parameters

from ..certificates.config.config import DataSection
from ..certificates.config.init_draft import filled
from ..certificates.reading.data_files import Preparation
from ..kernel.rows import Row
from ..messages.errors import UserError
from .choice_data import ChoiceData, Origin

#: What the user has to fill in.
REQUIRED = "REQUIRED"

#: More steps than so many, each of them a pass of Python on every draw, are a warning in the draft.
MANY_STEPS = 5000
#: Where the choice was made -> what the draft says of it.
CHOSEN = {
    "records": (
        "It was chosen by looking at these very records, which is said in chosen_from_data:\n"
        "no claim over all data sets passes until it is chosen from public knowledge."
    ),
    "public": "It was chosen on a public set, not on these records: the choice costs nothing.",
    "synthetic": "It was chosen on synthetic records from the public domain: the choice costs nothing.",
}


def draft(
    method: str,
    way: str,
    loss: str,
    domain: Domain,
    promise: Promise,
    *,
    data: Mapping[str, Any],
    origin: Origin,
    read_off: bool = False,
    features_chosen: bool = False,
) -> str:
    """Return a configuration that names the mechanism of an offer with its numbers, and claims the promise.

    Method and way are of the offer, as the table has them; the case of letters does not count. ``domain`` is public,
    that which the mechanism is set up for. ``data`` has the keys of ``[data]``: without ``n_public``, a calibration on
    other records than those of ``data`` that needs one leaves it as REQUIRED. ``origin`` says where the choice was
    made: on the records themselves it is named in ``chosen_from_data``. ``read_off``: on z-scores and unit rows, for
    want of public bounds; ``features_chosen``: constant features of the records that were looked at are left out.
    ``UserError`` if there is no such offer, it offers nothing for this promise, or no configuration can name it.
    """
    offer = offer_of(method, way, loss)
    built = offer.build(loss, domain, promise)
    where = f"epsilon {promise.epsilon:g}, delta {promise.delta:g}, {promise.neighbours}"
    if built.mechanism is None:
        raise UserError(f"draft must be for a mechanism that is offered at {where}, got {offer.method}: {built.reason}")
    named = parameters_of(built.mechanism, domain.dim)
    if named is None:
        raise UserError(
            f"draft must be for a mechanism that a configuration can name, got {offer.method} ({way}) "
            f"as {built.mechanism.name}"
        )
    numbers = named.model_dump(exclude_none=True)
    chosen, notes = {**data}, []
    sized = "n_public" in data or domain.n_public is None
    if not sized and _needs_size(offer, loss, domain, promise, built.mechanism):
        chosen["n_public"] = domain.n_public if origin == "records" else REQUIRED
        if origin != "records":
            notes.append(
                f"n_public was not given: the numbers of the mechanism were computed for n_public = {domain.n_public}, "
                "the size of the set that was looked at. Draft it again with --n-public and the public bound on the "
                "number of your records."
            )
    if origin == "records":
        features = ["data.features"] if features_chosen else []
        chosen["chosen_from_data"] = [*features, *(f"mechanism.{key}" for key in numbers)]
    notes += _notes(numbers, read_off=read_off, features_chosen=features_chosen)
    known = standing(built.mechanism, domain, promise).value
    title = (
        f"pdp-verify certify: {offer.method}, {way} calibration ({offer.rule}), whose promise of\n{where} is {known} "
        f"over the public domain.\n{CHOSEN[origin]}"
    )
    title = "\n".join([title, *(line for note in notes for line in textwrap.wrap(note, 116))])
    return filled(
        chosen,
        numbers,
        epsilon=promise.epsilon,
        delta=promise.delta,
        replaced=promise.neighbours == "replace",
        title=title,
    )


def _notes(numbers: Mapping[str, Any], *, read_off: bool, features_chosen: bool) -> Iterator[str]:
    """Yield what a draft has to say of its numbers."""
    if read_off:
        yield (
            "The compared error was with z-scores and unit rows, read off the records: it does not apply once public "
            "bounds are filled in."
        )
    if features_chosen:
        yield "Columns that are constant there were left out of the comparison, and are left out here."
    if numbers.get("n_steps", 0) > MANY_STEPS:
        yield (
            f"The mechanism takes {numbers['n_steps']} steps, each of them on every draw: to certify it may take very "
            "long. The exact calibration takes fewer."
        )


def compared(section: DataSection, data: ChoiceData) -> DataSection:
    """Return a section with the columns that were compared: without those that were constant, and so left out."""
    if not data.left_out:
        return section
    preparation = Preparation(section)
    out = set(data.left_out)
    gone = {preparation.names[at] for at in out if at < len(preparation.names)}
    categories = {
        name: [level for level in levels if f"{name}={level}" not in gone]
        for name, levels in section.categories.items()
    }
    categories = {name: levels for name, levels in categories.items() if levels}
    changed = {
        "features": [name for name in section.features if name in categories or _is_kept(name, section, gone)],
        "categories": categories,
        "intercept": None if len(preparation.names) in out else section.intercept,
    }
    return section.model_copy(update=changed)


def _is_kept(name: str, section: DataSection, gone: set[str]) -> bool:
    """Return whether a column of numbers is none of those that were left out."""
    return name not in section.categories and name not in gone


def can_be_drafted(row: Row, domain: Domain) -> bool:
    """Return whether a configuration can name the mechanism of a row."""
    promise = Promise(row["epsilon"], row["delta"], row["neighbours"])
    built = offer_of(row["method"], row["way"], row["loss"]).build(row["loss"], domain, promise)
    return built.mechanism is not None and parameters_of(built.mechanism, domain.dim) is not None


def domain_of(data: ChoiceData, section: DataSection) -> Domain:
    """Return the public domain that a configuration with this section has.

    Without public bounds it is that of unit rows and responses, with as many features as the section names: what was
    scaled by the records themselves is left for the user to fill in.
    """
    if section.source is not None:
        return data.domain
    boundless = math.isinf(section.x_bound or math.inf)
    bounds = (1.0, 1.0) if boundless else (data.domain.x_bound, data.domain.y_bound)
    return Domain(Preparation(section).dim, *bounds, data.n_public)


def data_keys(section: DataSection, folder: Path, *, beside: Path | None) -> dict[str, Any]:
    """Return the keys of ``[data]`` for a draft, public constants that nobody gave as REQUIRED.

    ``section`` is as it was used, its file relative to ``folder``; the draft will stand in ``beside``.
    """
    keys: dict[str, Any] = section.model_dump(exclude_defaults=True, exclude={"chosen_from_data"})
    if section.file is None:
        return keys
    keys["file"] = Path(os.path.relpath(folder / section.file, beside or Path())).as_posix()
    if math.isinf(section.x_bound or math.inf):
        numeric = [name for name in section.features if name not in section.categories]
        keys |= {"x_bound": 1.0, "y_bound": 1.0, "rows": "clip", "response": "clip"}
        keys |= {"ranges": dict.fromkeys(numeric, (REQUIRED, REQUIRED))}
        if section.threshold is None and not section.labels:
            keys["response_scale"] = REQUIRED
    return keys


def offer_of(method: str, way: str, loss: str) -> Offer:
    """Return the offer of a method, calibrated one way.

    ``UserError`` if there is none; it names those that there are.
    """
    known = list(offers(loss))
    found = [offer for offer in known if offer.method.lower() == method.lower()]
    if not found:
        names = ", ".join(dict.fromkeys(offer.method for offer in known))
        raise UserError(f"draft must be one of {names}, got draft={method}")
    for offer in found:
        if offer.way == way:
            return offer
    ways = " and ".join(offer.way for offer in found)
    raise UserError(f"way must be {ways} for {found[0].method}, got way={way}")


def _needs_size(offer: Offer, loss: str, domain: Domain, promise: Promise, mechanism: Mechanism) -> bool:
    """Return whether a calibration is another one without a public bound on the number of records."""
    try:
        other = offer.build(loss, replace(domain, n_public=None), promise).mechanism
    except ValueError:
        return True
    return not _same(other, mechanism) or standing(mechanism, replace(domain, n_public=None), promise) != standing(
        mechanism, domain, promise
    )


def parameters_of(mechanism: Mechanism, dim: int) -> Parameters | None:
    """Return the parameters by which a configuration names a mechanism, or None where none does.

    Each model of the catalogue is filled with the numbers that the mechanism holds, and counts where it builds the same
    mechanism again.
    """
    held = dict(_held(mechanism))
    if "gamma" in held:
        held.setdefault("sigma", held["gamma"] ** -0.5)  # the standard deviation behind a precision
    for word, model in parameters().items():
        for words in _words(model):
            numbers = {name: held[name] for name in model.model_fields if name in held and name not in words}
            try:
                named = model.model_validate({"name": word, **numbers, **words})
                built = named.build(dim)
            except (ValidationError, ValueError, ArithmeticError):
                continue
            if _same(built, mechanism):
                return named
    return None


def _words(model: type[Parameters]) -> Iterator[dict[str, str]]:
    """Yield every combination of a model's fields that are one of several words."""
    choices = {
        name: get_args(field.annotation)
        for name, field in model.model_fields.items()
        if name != "name" and get_origin(field.annotation) is Literal
    }
    yield from (dict(zip(choices, chosen, strict=True)) for chosen in itertools.product(*choices.values()))


def _held(value: object) -> Iterator[tuple[str, float | int]]:
    """Yield the numbers that a mechanism holds by name, those inside its parts last."""
    if not is_dataclass(value):
        return
    own = [(field.name, getattr(value, field.name)) for field in fields(value)]
    inner = (pair for _, part in own for pair in _held(part))
    yield from dict(itertools.chain(inner, ((n, v) for n, v in own if isinstance(v, int | float)))).items()


def _same(first: object, second: object) -> bool:
    """Return whether two values are of one class and hold the same, all the way down."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second))  # type: ignore[arg-type]
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-12)  # a precision there and back
    if is_dataclass(first):
        return all(_same(getattr(first, field.name), getattr(second, field.name)) for field in fields(first))
    return bool(first == second)
