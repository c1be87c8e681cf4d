"""Straight lines through measurements that come in rounds, for the benchmarks beside this file."""

import math
import statistics
from itertools import groupby


def by_round(looks, key):
    """The looks of each whole round (`key` gives its number); where fewer than three were seen whole, every look alone."""
    rounds = [list(looks) for _, looks in groupby(looks, key)]
    whole = rounds[1:-1]
    return whole if len(whole) >= 3 else [[look] for look in looks]


def medians(rounds, value):
    return [statistics.median(value(look) for look in one) for one in rounds]


def line(stretches):
    """The rise that several stretches of points (x, y) have in common, each from its own height, by least squares; and its
    standard error. One stretch is the line that everybody knows."""
    spread = together = left = 0.0
    points = 0
    centred = []
    for stretch in stretches:
        if len(stretch) < 2:
            continue
        middle, mean = (statistics.fmean(values) for values in zip(*stretch))
        centred.append([(x - middle, y - mean) for x, y in stretch])
        points += len(stretch)
    for x, y in (point for stretch in centred for point in stretch):
        spread, together = spread + x * x, together + x * y
    if not spread:
        return 0.0, math.inf
    rise = together / spread
    for x, y in (point for stretch in centred for point in stretch):
        left += (y - rise * x) ** 2
    return rise, math.sqrt(left / max(1, points - len(centred) - 1) / spread)
