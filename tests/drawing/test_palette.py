"""The colours of trees and clusters, as people with other eyes see them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from clmst.core.weight_keys import Array
from clmst.drawing import PALETTE
from clmst.drawing.palette import PAPER, RAMPS, STONE, hues, rgb

# Linear RGB as it is, and as without one kind of cones: Machado, Oliveira and Fernandes, "A
# physiologically-based model for simulation of color vision deficiency" (2009), severity 1.
VISIONS = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip
JUST_NOTICEABLE = 0.02  # CSS Color Module 4, of distances in OKLab
LEAST = 0.075


def oklab(colours: Array, vision: str) -> Array:
    """Return sRGB colours as Ottosson's OKLab sees them (2020), with the cones of a vision."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(VISIONS[vision]).T, 0, 1)
    cones = seen @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    lab: Array = np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )
    return lab


def distances(colours: Array, vision: str) -> Array:
    """Return the distances between all pairs of colours."""
    seen = oklab(colours, vision)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)
    return np.asarray(apart[np.triu_indices(len(colours), 1)])


def test_the_measure_knows_white_and_black() -> None:
    """OKLab's lightness is 0 and 1 at the ends for all cones. The hue of grey is undefined."""
    for vision in VISIONS:
        black, grey, white = oklab(np.array([[0.0] * 3, [0.5] * 3, [1.0] * 3]), vision)
        np.testing.assert_allclose((black[0], white[0]), (0, 1), atol=1e-3)
        np.testing.assert_allclose(grey[1:], 0, atol=2e-3)


def test_the_simulation_confuses_red_and_green() -> None:
    pair = np.array([rgb("#d62728"), rgb("#8c7000")])
    assert distances(pair, "normal")[0] > 0.15
    assert distances(pair, "deuteranopia")[0] < 0.15


def test_there_are_twenty_that_do_not_repeat() -> None:
    assert len(set(PALETTE)) == len(PALETTE) >= 20
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in PALETTE)


@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_differ(vision: str) -> None:
    colours = np.array([rgb(colour) for colour in PALETTE])
    least = 0.11 if vision == "normal" else LEAST
    assert distances(colours, vision).min() > least > 3 * JUST_NOTICEABLE
    assert (
        distances(colours[:8], vision).min() > 0.095
    )  # most pictures have at most this many clusters


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("ground", "least"), [(PAPER, 0.15), ("#ffffff", 0.16), (STONE, 0.06)])
def test_all_stand_out_from_paper_and_stone(vision: str, ground: str, least: float) -> None:
    behind = oklab(rgb(ground)[None], vision)
    seen = oklab(np.array([rgb(colour) for colour in PALETTE]), vision)
    assert np.linalg.norm(seen - behind, axis=1).min() > least


def test_a_ramp_goes_from_light_to_dark() -> None:
    """A trunk is darker than a twig, and the colour of a legend is on the ramp of its tree."""
    lightness = oklab(np.array(RAMPS), "normal")[..., 0]
    assert (np.diff(lightness, axis=1) < 0).all()
    np.testing.assert_allclose(np.array(RAMPS)[:, 1], hues(np.arange(len(PALETTE))))
