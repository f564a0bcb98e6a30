"""The page of the bank: one table, and a paragraph for each bug."""

from __future__ import annotations

from collections.abc import Sequence

from bank import FAILURE_PROB, FIRST_LOOK, Bug, Row, Verdict

from audits.harness.guarded_subject import PILOT

HEADER = (
    "| bug | relation | claimed | as reported: certified | draws | seconds | what is right: certified | draws |",
    "|---|---|---|---|---|---|---|---|",
)
PEERS = (
    "| bug | claimed, or attacked on a curve | draws | jax-privacy | dp-recorder |",
    "|---|---|---|---|---|",
)


def cells(bug: Bug, found: Row) -> list[str]:
    """Return the cells of a bug's line."""
    return [
        f"{subject(bug, found)}, {link(bug)}",
        relation(bug),
        claimed(found),
        reported(bug, found),
        f"{found.bug.n_draws:,}",
        f"{found.bug.seconds:.0f}",
        certified(found, found.right),
        f"{found.right.n_draws:,}",
    ]


def subject(bug: Bug, found: Row) -> str:
    """Return what was drawn from."""
    if bug.outcome == "not reproduced":
        return f"not {bug.library} {found.version}, but what is reported"
    return f"{bug.library} {found.version}"


def peer_cells(bug: Bug, found: Row) -> list[str]:
    """Return the cells of a bug's line among the peers."""
    point = f"({found.bug.epsilon:.4g}, {found.bug.delta:.3g})"
    return [link(bug), point, f"{found.bug.n_draws:,}", canary(found), recorded(found)]


def link(bug: Bug) -> str:
    """Return the bug's name, with where it was reported."""
    return f"[{short(bug)}]({bug.issue})"


def short(bug: Bug) -> str:
    """Return the number of the issue, or the name of the bug."""
    number = bug.issue.rstrip("/").rpartition("/")[2]
    return f"#{number}" if number.isdigit() else bug.id.replace("_", " ")


def relation(bug: Bug) -> str:
    """Return how the data sets differ."""
    words = {"add": "one record added", "remove": "one record removed", "replace": "one record replaced"}
    many = {"add": "records added", "remove": "records removed", "replace": "records replaced"}
    return words[bug.relation] if bug.distance == 1 else f"{bug.distance} {many[bug.relation]}"


def claimed(found: Row) -> str:
    """Return the claim."""
    if found.form != "point":
        return found.claim
    return f"({found.bug.epsilon:.4g}, {found.bug.delta:.3g})"


def certified(found: Row, verdict: Verdict) -> str:
    """Return the lower bound and whether it refutes."""
    word = "refuted" if verdict.refuted else "not refuted"
    if found.form == "point":
        return f"epsilon ≥ {verdict.low:.3f}, {word}"
    return f"delta ≥ {verdict.low:.3f} at epsilon {verdict.epsilon:.3g} ({verdict.delta:.3f} allowed), {word}"


def reported(bug: Bug, found: Row) -> str:
    """Return what was certified about the bug, and that it is no violation where it is none."""
    return ("no violation: " if bug.outcome == "no violation" else "") + certified(found, found.bug)


def right(bug: Bug, found: Row) -> str:
    """Return what is right, in short."""
    return str(bug.right.get("variant", f"{bug.library} {found.right_version}"))


def canary(found: Row) -> str:
    """Return jax-privacy's bound and whether it refutes the point that was attacked."""
    low = found.peers.get("jax-privacy")
    if low is None:
        return "-"
    return f"epsilon ≥ {low:.3f}, {'refuted' if low > found.bug.epsilon else 'not refuted'}"


def recorded(found: Row) -> str:
    """Return dp-recorder's bound and whether it refutes the point that was attacked."""
    low = found.peers.get("dp-recorder")
    if low is None:
        return "-"
    return f"delta ≥ {low:.3g}, {'refuted' if low > found.bug.delta else 'not refuted'}"


def paragraph(bug: Bug, found: Row) -> str:
    """Return what is wrong, what was compared with what, and what was seen."""
    sentences = [
        f"### {bug.library}: {short(bug)}\n\n{bug.wrong} [The issue]({bug.issue}).",
        f"Pair: {bug.pair}. Claim: {found.claim}, {bug.claim}.",
        seen(bug, found.bug),
        f"What is right: {right(bug, found)}; {verdict_words(found.right)} at {found.right.n_draws:,} draws.",
        f"dp-recorder: {bug.recorder}" if bug.recorder else "",
        bug.note,
        f"Run on {found.day}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def verdict_words(verdict: Verdict) -> str:
    """Return the verdict in words."""
    return "refuted" if verdict.refuted else "not refuted"


def seen(bug: Bug, verdict: Verdict) -> str:
    """Return by which event the claim was refuted, or that it was not."""
    if not verdict.refuted:
        return f"Not refuted at {verdict.n_draws:,} draws."
    event, _, hits = verdict.event.rpartition(": ")
    if " against " not in hits:
        return f"Refuted after {verdict.n_draws:,} draws by {verdict.event}."
    first, second = (counted(side) for side in hits.split(" against "))
    words = f"in {first} draws of the first data set and in {second} of the second"
    return f"Refuted after {verdict.n_draws:,} draws by an event that was seen {words}: {event}."


def counted(hits: str) -> str:
    """Return hits in words; without the number of draws where labels were dealt out at random and it is not exact."""
    happened, _, draws = hits.partition(" of ")
    return hits if int(happened) <= int(draws) else happened


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    return "\n".join([*head, *("| " + " | ".join(line) + " |" for line in lines)]) + "\n\n"


def page(rows: Sequence[tuple[Bug, Row]]) -> str:
    """Return the page."""
    ours, peers = table(HEADER, [cells(*pair) for pair in rows]), table(PEERS, [peer_cells(*pair) for pair in rows])
    return HEAD + ours + PEERS_HEAD + peers + "## Each of them\n\n" + "\n\n".join(map(paragraph_of, rows)) + "\n"


def paragraph_of(pair: tuple[Bug, Row]) -> str:
    """Return the paragraph of one bug."""
    return paragraph(*pair)


HEAD = f"""# A bank of real bugs

Reports about libraries of differential privacy, each run in its own environment with the version that it is about and
held against what the library itself claims. Made by `python benchmarks/bug_bank/run_bank.py --out docs/bug_bank.md`,
which makes the environments with pip and takes some minutes.

The audit sees outputs only: a command answers requests for draws, and the audit looks for an event that the claim
forbids. It looks after {FIRST_LOOK:,} draws of both data sets together, and whenever their number has doubled. The
failure probability is {FAILURE_PROB:g} for a bug with all its looks, of which look k has the share 1/(k(k+1)), and as
much for what is right, at which one look is taken, at all the draws that the bug was allowed; {PILOT} draws of each
data set that show what outputs look like are counted too. "Certified" is the lower bound of the last look: on epsilon
at the claimed delta, or, where a whole curve is claimed, on delta at the epsilon where it was attacked. "Not refuted"
supports nothing: this many draws showed no event that the claim forbids. What is refuted is the claim in the column
"claimed", for the pair that is described below, and nothing else about a library: a pair is made to show one thing, and
says nothing of the data that people have. Seconds are from two shared processors with much else running, and include
the start of the library's process. Libraries that draw from the operating system cannot be seeded, so their draws and
seconds change from run to run.

An event is a set of outputs that was fixed before the draws that test it, whose counts are given. A "score" is a number
made of an output that was learned from draws made earlier; the half of the outputs with the largest scores is an event.

"""
PEERS_HEAD = """## Two peers

jax-privacy 2.0.0's canary auditor (Clopper-Pearson, all thresholds, Bonferroni) is given the draws of all looks up to
the refutation as scores, at the same failure probability. It is not told which data set has the canary, nor the sign
of the scores: it is asked all four ways, a quarter of the failure probability each. "-": outputs are not one score.

dp-recorder (commit 85d189e; it is on no package index, and run from a checkout with `--recorder DIR`) is a grey box:
its first means, the inputs of noise held against their declared sensitivities, needs the library's code to be marked,
and is named below where it was tried by hand. Here it is given the whole mechanism as one untrusted primitive, for its
distributional audit, and as many draws of its own. "-": the outputs are not vectors of one length, or it was not run.

"""
