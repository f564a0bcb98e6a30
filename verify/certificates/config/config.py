"""The configuration of a certificate: TOML, validated; an error names the key, the rule and the value."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from audits.adapters.records import PublicRecords
from audits.sequential.sparing_audit import LEAST_DRAWS
from mechanisms import Dataset
from mechanisms.parameters import Positive

from ...messages.errors import UserError
from ...messages.texts import read_text, read_toml, walk
from ..claims.types import BY_TYPE, NAME, Claim, DPClaim, Probability
from .config_mechanisms import (
    BY_TAG,
    ConfigSection,
    DoorSection,
    ImportSection,
    MechanismSection,
    OwnSection,
    VouchedSection,
)

#: Keys whose value may be a record of a person.
PRIVATE = ("x", "y", "X", "target_x", "target_y")
#: Most characters of the name of a pair: those that a search finds say how they are built.
LONGEST_NAME = 400
#: Keys that say which mechanism it is.
MECHANISM = ("name", "import", "command", "url")
_RULES = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_pattern_mismatch": "of the form {pattern}",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "literal_error": "one of {expected}",
    "reach": "between {low:g} and {high:g}",
    "too_short": "a list of at least {min_length}",
    "union_tag_invalid": "one of {expected_tags}",
}


def one_line(error: ValidationError) -> str:
    """Return the first error of a validation as ``key must be <rule>, got key=value``."""
    found = error.errors(include_url=False)
    first = next(
        (each for each in found if each["type"] == "extra_forbidden"), found[0]
    )  # a misspelt key explains more
    kind, context = first["type"], dict(first.get("ctx", {}))
    key = key_of(first["loc"])
    if kind == "value_error" and "|" in str(context.get("error", "")):
        place, rule, value = str(context["error"]).split("|", 2)
        for tables in ("claims", "pairs"):  # the validator of one table does not know its number
            if place.partition(".")[0] == tables and key.startswith(f"{tables}["):
                place = key + place.removeprefix(tables)
        return f"{place} must be {rule}, got {place}={value}"
    if kind == "missing":
        return f"{key} must be given, got nothing"
    if kind == "extra_forbidden" and first["loc"][0] == "mechanism" and first["loc"][-1] in MECHANISM:
        both = f"{first['loc'][1] if first['loc'][1] in MECHANISM else 'name'} and {first['loc'][-1]}"
        return f"mechanism must have one of {', '.join(MECHANISM)}, got {both}"
    if kind == "extra_forbidden":
        return f"{key} must be a known key, got {key}{_meant(first)}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        tag = "name" if key == "mechanism" else "type"
        rule = (
            f"one of {context.get('expected_tags', '')}".replace("'", "") if context.get("expected_tags") else "given"
        )
        return f"{key}.{tag} must be {rule}, got {key}.{tag}={context.get('tag', 'nothing')}"
    rule = _RULES.get(kind, "").format(**context) or first["msg"].removeprefix("Value error, ")
    if context.get("pattern") == NAME:
        rule = "made of letters, digits, blanks, '.', '_' and '-', at most 61, a letter or a digit first"
    rule = rule.removesuffix(".0") if rule.split()[-1].endswith(".0") else rule
    if key.rpartition(".")[2].partition("[")[0] in PRIVATE:
        return f"{key} must be {rule}, got another value (not shown)"
    return f"{key} must be {rule}, got {key}={_shown(first['input'])}"


def key_of(location: Sequence[str | int]) -> str:
    """Return a location as a TOML key, without the tags of unions."""
    parts = list(location)
    if len(parts) > 1 and parts[0] == "mechanism":
        del parts[1]
    if len(parts) > 2 and parts[0] == "claims" and isinstance(parts[1], int):
        del parts[2]
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text or "configuration"


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except (RecursionError, ValueError):  # ValueError: a whole number with thousands of digits
        text = "another value"
    return text if len(text) <= 60 else text[:57] + "..."


def _meant(error: Any) -> str:
    sections: dict[Any, Any] = {
        "data": DataSection,
        "budget": BudgetSection,
        "release": ReleaseSection,
        "report": ReportSection,
        "artefact": ArtefactSection,
        "pairs": PairSection,
        "vouched_by": VouchedSection,
        **BY_TAG,
        **BY_TYPE,
    }
    location = error["loc"]
    model = next((sections[part] for part in reversed(location[:-1]) if part in sections), Configuration)
    known = sorted(each.alias or name for name, each in model.model_fields.items())
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean {close[0]}" if close else f"; known are {', '.join(known)}"


class PairSection(ConfigSection):
    """A pair of neighbouring data sets of prepared records that the examination also draws from."""

    name: str | None = Field(None, description="What it is called, in one line; pair 1, pair 2, ... without a name.")
    X: list[list[float]] = Field(description="Prepared features of the records, one list a record; may be empty.")
    y: list[float] = Field(description="Their prepared responses.")
    target_x: list[float] = Field(
        description="Prepared features of the record that is added, or put in the place of another."
    )
    target_y: float
    replaced: int | None = Field(
        None, ge=0, description="Record that the target takes the place of, for claims of relation replace."
    )
    place: int | None = Field(
        None,
        ge=0,
        description="Where the target stands among the records, from 0: then the first data set has it, and the second "
        "has not. Without it the second data set has it, as its last record.",
    )
    copies: int | None = Field(
        None, ge=2, description="How often the target is there, for claims of that group; once without it."
    )

    @model_validator(mode="after")
    def _shapes(self) -> PairSection:
        n, dim, name = len(self.X), len(self.target_x), self.name
        if name is not None and not (name.isprintable() and name.strip() and len(name) <= LONGEST_NAME):
            raise ValueError(f"pairs.name|one line of 1 to {LONGEST_NAME} characters|{_shown(name)!r}")
        if len(self.y) != n:
            raise ValueError(f"pairs.y|a list of one number for each record of X ({n})|{len(self.y)}")
        if dim == 0 or any(len(row) != dim for row in self.X):
            raise ValueError("pairs.X|lists as long as target_x|another length")
        if self.replaced is not None and self.replaced + self.count > n:
            rule = f"below the number of records ({n})"
            rule = rule if self.copies is None else f"at most the number of records ({n}) less copies={self.copies}"
            raise ValueError(f"pairs.replaced|{rule}|{self.replaced}")
        if self.place is not None and (self.replaced is not None or self.place > n):
            rule = f"at most the number of records ({n}), and absent beside replaced"
            raise ValueError(f"pairs.place|{rule}|{self.place}")
        return self

    @property
    def count(self) -> int:
        """How often the target is there."""
        return self.copies or 1


BOUNDS = ("x_bound", "y_bound")
#: A level of a column as it is written: a code that is a whole number is the same text.
Level = Annotated[
    str,
    BeforeValidator(
        lambda level: str(level) if type(level) is int else level,
        json_schema_input_type=str | int,
    ),
]
#: Keys that an embedded data set has none of.
OF_A_FILE = ("features", "target", "ranges", "categories", "labels", "log", "threshold", "intercept", *BOUNDS)


class DataSection(ConfigSection):
    """Where the records are, and how they are brought into the public domain."""

    source: Literal["fair", "randhie", "anes96"] | None = Field(None, description="An embedded data set.")
    file: str | None = Field(None, description="CSV, TSV, Parquet, .npy or .npz, relative to this file.")
    dim: int | None = Field(
        None, ge=1, description="Number of features where there are no records: the public domain alone is examined."
    )
    records: dict[str, Any] | list[Any] | None = Field(
        None,
        description="With dim: what a function or an estimator takes in place of rows of numbers. A range { low = 17, "
        "high = 90 } or a list of levels for each column, or for records that are one value.",
    )
    features: list[str] = Field([], description="Feature columns, in order (column numbers for .npy).")
    target: str | None = Field(None, description="Response column.")
    public: bool = Field(False, description="Whether the records themselves may be published.")
    n_public: int | None = Field(
        None, ge=0, description="Public upper bound on the number of records, if there is one."
    )
    n_min: int = Field(0, ge=0, description="Least number of records: a public condition of every promise.")
    x_bound: Positive | None = Field(
        None, description="Public bound on the Euclidean norm of a row, intercept included."
    )
    y_bound: Positive | None = Field(None, description="Public bound on the absolute response.")
    ranges: dict[str, tuple[float, float]] = Field(
        {}, description="Public range of a column, mapped to [-1, 1]/sqrt(k)."
    )
    categories: dict[str, list[Level]] = Field(
        {}, description="Public levels of a column, text or whole numbers, one 0/1 column each."
    )
    labels: dict[str, float] = Field({}, description="Response for each level of a text target.")
    log: Literal["log", "log1p"] | None = Field(
        None, description="Logarithm of the response (log1p: of one more), before all else that is done to it."
    )
    threshold: float | None = Field(
        None, allow_inf_nan=False, description="Public: a response above it becomes +1, any other -1."
    )
    response_scale: Positive = Field(1.0, description="Public constant that the response is divided by.")
    intercept: float | None = Field(None, allow_inf_nan=False, description="Value of a constant last column.")
    rows: Literal["refuse", "clip", "unit"] = Field("refuse", description="Rows longer than x_bound.")
    response: Literal["refuse", "clip"] = Field("refuse", description="Responses beyond y_bound.")
    missing: Literal["refuse", "drop"] = Field("refuse", description="Records with a missing value.")
    standardise: bool = Field(False, description="z-scores read off the data; part of every claim they touch.")
    chosen_from_data: list[str] = Field([], description="Parameters that somebody chose by looking at these records.")
    delimiter: str = Field(",", min_length=1, max_length=1)
    header: bool = True
    encoding: str = "utf-8"
    decimal: Literal[".", ","] | None = Field(
        None, description="What stands before the decimals of a number in a text file."
    )

    @model_validator(mode="after")
    def _complete(self) -> DataSection:
        if self.n_public is not None and self.n_min > self.n_public:
            raise ValueError(f"data.n_min|at most n_public={self.n_public}|{self.n_min}")
        given = [name for name in ("source", "file", "dim") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("data|exactly one of source, file and dim|" + (" and ".join(given) or "none"))
        if self.decimal == self.delimiter:
            raise ValueError("data.decimal|another character than data.delimiter|the same")
        for name in () if self.file is not None else OF_A_FILE:
            if getattr(self, name) not in (None, [], {}) and not (self.dim is not None and name in BOUNDS):
                of = "an embedded data set, which brings its own" if self.source is not None else "no records"
                raise ValueError(f"data.{name}|absent for {of}|given")
        if self.records is not None:
            self._check_records()
        if self.source is not None:
            return self
        for name in BOUNDS:
            if getattr(self, name) is None:
                raise ValueError(f"data.{name}|given: a public bound, never read off the data|nothing")
        for column, (low, high) in self.ranges.items():
            if not (math.isfinite(high - low) and high - low > 1e-300):
                raise ValueError(f"data.ranges.{column}|two finite numbers, the lower first|[{low}, {high}]")
        return self

    def _check_records(self) -> None:
        try:
            least = PublicRecords.of(self.records).dim
        except ValueError as stop:
            rule, _, got = str(stop).removeprefix("records must ").partition(", got ")
            raise ValueError(f"data.records|{rule.removeprefix('be ')}|{got}") from None
        if self.dim is None or self.dim < least:
            raise ValueError(f"data.dim|at least {least} for so many columns of data.records|{self.dim}")

    @property
    def public_records(self) -> PublicRecords | None:
        """What is handed over in place of rows of numbers; None where these are."""
        return None if self.records is None else PublicRecords.of(self.records)

    @property
    def is_public(self) -> bool:
        """Whether the records may be published (embedded data always)."""
        return self.public or self.source is not None


class ReleaseSection(ConfigSection):
    """The deployed output, which ex-post losses and reports are about."""

    file: str | None = Field(None, description="JSON list or .npy of the released numbers, relative to this file.")
    draw: bool = Field(False, description="Draw it once, with noise from the operating system, and keep it.")

    @model_validator(mode="after")
    def _one(self) -> ReleaseSection:
        if (self.file is None) == (not self.draw):
            raise ValueError("release|exactly one of file and draw = true|" + ("both" if self.draw else "neither"))
        return self


class ArtefactSection(ConfigSection):
    """The file that is shipped; its digest goes into the attestation, so that its holder finds the certificate."""

    file: str = Field(min_length=1, description="Relative to this file. It is named, not examined.")


class ReportSection(ConfigSection):
    """The publishable reports: data-independent at no cost, data-dependent with noise of these sizes."""

    rho: Probability = Field(description="Failure probability of each event behind the bound.")
    sigma2: Positive | None = Field(None, description="Noise of the released gradient (data-dependent report).")
    sigma3: Positive | None = Field(None, description="Noise of the released Hessian (data-dependent report).")

    @model_validator(mode="after")
    def _both(self) -> ReportSection:
        if (self.sigma2 is None) != (self.sigma3 is None):
            raise ValueError("report|sigma2 and sigma3 together, or neither|one of them")
        return self


#: What a profile examines of an imported mechanism: pairs over the public domain, and draws of each data set.
EXAMINED = {"quick": (8, 4_000), "standard": (16, 20_000), "full": (24, 200_000)}


class BudgetSection(ConfigSection):
    """How much is drawn, and what may go wrong with which probability."""

    profile: Literal["quick", "standard", "full"] = "standard"
    failure_prob: Probability = 1e-4
    seed: int = Field(20210527, ge=0, description="Of the audit's own draws; never of a private release.")
    jobs: int | None = Field(None, ge=1)
    pairs: int | None = Field(
        None,
        ge=0,
        description="Pairs of an imported mechanism that are examined, instead of the profile's; 0: those of "
        "[[pairs]] alone, which can refute and never support.",
    )
    draws: int | None = Field(
        None, ge=1, description="Draws from each data set of such a pair, instead of the profile's."
    )
    max_draws: int | None = Field(
        None, ge=1, description="Most draws from an imported mechanism for one claim, all pairs together."
    )
    max_seconds: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="A stop: what is not decided by then is left open as not reached."
    )
    sequential: bool = Field(
        False,
        description="For an imported mechanism whose draws are dear: one pair is bet on, max_draws at most.",
    )

    @model_validator(mode="after")
    def _enough(self) -> BudgetSection:
        if self.sequential and (self.max_draws or 0) < LEAST_DRAWS:
            raise ValueError(
                f"budget.max_draws|at least {LEAST_DRAWS} where sequential = true|{self.max_draws or 'nothing'}"
            )
        if self.max_draws is not None and self.max_draws < 2 * (self.pairs or 1) * (self.draws or 1):
            least = 2 * (self.pairs or 1) * (self.draws or 1)
            raise ValueError(f"budget.max_draws|at least 2 * pairs * draws = {least}|{self.max_draws}")
        return self

    @property
    def examined(self) -> tuple[int, int]:
        """Pairs of an imported mechanism that are examined, and draws of each of their data sets."""
        pairs, draws = EXAMINED[self.profile]
        return pairs if self.pairs is None else self.pairs, self.draws or draws


class Configuration(BaseModel):
    """A deployment to certify."""

    model_config = ConfigDict(extra="forbid", title="pdp-verify certify: configuration")

    data: DataSection
    mechanism: MechanismSection
    release: ReleaseSection | None = None
    report: ReportSection | None = None
    artefact: ArtefactSection | None = None
    claims: list[Claim] = Field(min_length=1)
    pairs: list[PairSection] = []
    budget: BudgetSection = Field(default_factory=lambda: BudgetSection.model_validate({}))
    folder: str | None = Field(
        None,
        min_length=1,
        description="Where relative paths begin and a command runs; the folder of this file without it.",
    )
    paper: Literal["a4", "us-letter"] = "a4"

    @field_validator("claims")
    @classmethod
    def _names(cls, claims: list[Any]) -> list[Any]:
        """Give every claim a name of its own; that of a public claim depends on no other claim."""
        taken: set[str] = set()
        for claim in sorted(claims, key=lambda each: not each.is_public):
            base = claim.name or claim.kind
            names = itertools.chain([base], (f"{base}-{number}" for number in itertools.count(2)))
            claim.name = next(name for name in names if name not in taken)
            taken.add(claim.name)
        return claims

    @field_validator("pairs")
    @classmethod
    def _pairs(cls, pairs: list[PairSection]) -> list[PairSection]:
        names = [pair.name for pair in pairs]
        for place, name in enumerate(names):
            if name is None:
                rest = (f"pair {number}" for number in itertools.count(place + 1))
                pairs[place].name = next(each for each in rest if each not in [pair.name for pair in pairs])
            elif name in names[:place]:
                raise ValueError(f"pairs[{place}].name|another name for each pair|{name}")
        return pairs

    @model_validator(mode="after")
    def _together(self) -> Configuration:
        reportable = not isinstance(self.mechanism, OwnSection) and self.mechanism.reportable
        if (self.report is not None or any("report" in claim.needs for claim in self.claims)) and not reportable:
            name = getattr(self.mechanism, "name", "a mechanism of your own")
            raise ValueError(f"mechanism.name|objective-perturbation where a report is asked for|{name}")
        if self.release is not None and self.release.draw and isinstance(self.mechanism, DoorSection):
            rule = "false for a command or a url, whose seed of 53 bits is no noise for a release (file names it)"
            raise ValueError(f"release.draw|{rule}|true")
        claims = [claim for claim in self.claims if isinstance(claim, DPClaim)]
        for place, pair in enumerate(self.pairs):
            if ("replace" if pair.replaced is not None else "add-remove") not in {each.relation for each in claims}:
                rule = "given for a claim of relation replace, and only then"
                raise ValueError(f"pairs[{place}].replaced|{rule}|{pair.replaced}")
            if pair.count not in {each.group for each in claims}:
                raise ValueError(f"pairs[{place}].copies|the group of a claim of type dp|{pair.count}")
            if pair.replaced is not None and not isinstance(self.mechanism, OwnSection):
                raise ValueError(f"pairs[{place}].replaced|absent for a reference mechanism|{pair.replaced}")
        if self.budget.pairs == 0 and not (self.pairs and len(claims) == len(self.claims)):
            raise ValueError("budget.pairs|at least 1 but for claims of type dp with [[pairs]]|0")
        self._without_records()
        absent = {name for name in ("report", "release") if getattr(self, name) is None}
        refusals = [refusal for claim in self.claims for refusal in claim.refusals(absent)]
        if refusals:
            raise ValueError(max(refusals))  # report before release
        if self.data.standardise and any(isinstance(claim, DPClaim) for claim in self.claims):
            raise ValueError(
                "data.standardise|false for a claim over all data sets (z-scores read the data; use data.ranges)|true"
            )
        return self

    def _without_records(self) -> None:
        if self.data.records is not None and not isinstance(self.mechanism, ImportSection):
            raise ValueError("data.records|absent but for a function or an estimator (mechanism.import)|given")
        if self.data.dim is None:
            return
        local = next((claim.type for claim in self.claims if not claim.everywhere), None)
        if local is not None:
            raise ValueError(f"claims.type|about all data sets where there are no records (data.dim)|{local}")
        if self.release is not None:
            raise ValueError("release|absent where there are no records (data.dim)|given")


@dataclass(frozen=True)
class Loaded:
    """A configuration and where it came from: its folder, and the digest of its bytes.

    ``mechanism`` and ``dataset`` are in memory where a call brings them in place of files.
    """

    config: Configuration
    path: Path
    text: str
    mechanism: Any = None
    dataset: Dataset | None = None

    @property
    def folder(self) -> Path:
        """Folder that relative paths start from."""
        here = self.path.resolve().parent
        return here if self.config.folder is None else here / self.config.folder

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load(path: Path) -> Loaded:
    """Read and validate a configuration.

    Raises UserError: one line: the key, the rule and the value.
    """
    text = read_text(path, "configuration", "a readable TOML file")
    return Loaded(parse(text, str(path)), path, text)


def parse(text: str, name: str = "configuration") -> Configuration:
    """Validate the text of a configuration; raises as ``load``."""
    raw = read_toml(text, "configuration", name)
    for place, value in walk(raw):
        if isinstance(value, str) and re.fullmatch(r"\W*REQUIRED\W*", value):
            raise UserError(f"{place} must be filled in with a public constant, got {place}=REQUIRED")
    try:
        return Configuration.model_validate(raw)
    except ValidationError as stop:
        raise UserError(one_line(stop)) from stop


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a configuration, as it ships in ``verify/schemas/configuration.schema.json``."""
    schema = Configuration.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    plain: dict[str, Any] = json.loads(json.dumps(schema))
    return plain
