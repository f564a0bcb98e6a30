"""Literal twins of ``audits.density_tests.stated_law``: one draw at a time, plain loops, plain floats."""

from __future__ import annotations

import math


def share(log_p: float, log_q: float) -> float:
    """p / (p + q)."""
    if log_p == log_q:
        return 0.5
    if log_q == -math.inf:
        return 1.0
    return 1.0 / (1.0 + math.exp(min(log_q - log_p, 700.0))) if log_p > -math.inf else 0.0


def scaled_sides(log_density, values, centre, factor):
    """Stated shares of one column scaled about a centre: at the draws, and at their images; and the images."""
    draws, images, points = [], [], []
    for o in values:
        image, before = centre + factor * (o - centre), centre + (o - centre) / factor
        draws.append(share(log_density(o), log_density(before) - math.log(factor)))
        images.append(share(log_density(image), log_density(o) - math.log(factor)))
        points.append(image)
    return draws, images, points


def payoffs(g, points, shares, images, image_shares):
    """g(o) (1 - s(o)) - g(z) s(z), row by row."""
    return [g(o) * (1 - s) - g(z) * t for o, s, z, t in zip(points, shares, images, image_shares, strict=True)]


def capital(bets, stakes, weights, payoffs_of_bets):
    """Largest capital of a portfolio: bet i has share bets[i], split over its stakes by ``weights``."""
    accounts = [[b * w for w in weights] for b in bets]
    largest = 1.0
    for t in range(len(payoffs_of_bets[0])):
        for i, x in enumerate(payoffs_of_bets):
            accounts[i] = [a * (1 + s * x[t]) for a, s in zip(accounts[i], stakes[i], strict=True)]
        largest = max(largest, sum(map(sum, accounts)))
    return largest


def best_interval(scores, weights):
    """The interval between two values of the score whose weights are farthest from 0, by trying all of them."""
    distinct = sorted(set(scores))
    best = (0.0, None)
    for i in range(len(distinct)):
        for j in range(i, len(distinct)):
            inside = [w for s, w in zip(scores, weights, strict=True) if distinct[i] <= s <= distinct[j]]
            z = sum(inside) / math.sqrt(sum(w * w for w in inside) + 1.0)
            if abs(z) > abs(best[0]) + 1e-12:
                best = (z, (distinct[i], distinct[j]))
    return best


def binomial_tail(hits, n, probability):
    """P(Bin(n, probability) >= hits), summed."""
    return sum(math.comb(n, k) * probability**k * (1 - probability) ** (n - k) for k in range(hits, n + 1))


def payoffs_beyond(log_density, score, values, factor, threshold, moves=lambda o: True):
    """One column with median 0 scaled by a factor: shares of images beyond a threshold less those of draws beyond it.

    The threshold rises to the largest score before.
    """
    found, level = [], threshold
    for o in values:
        scale = factor if moves(o) else 1.0
        z = scale * o
        x = share(log_density(z), log_density(o) - math.log(factor)) if score(z) > level else 0.0
        if score(o) > level:
            x -= 1 - share(log_density(o), log_density(o / scale) - math.log(factor))
        found.append(x)
        level = max(level, score(o))
    return found
