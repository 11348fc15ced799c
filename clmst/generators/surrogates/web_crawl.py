"""A surrogate of a crawl of the web in the order of addresses: sites of pages that lie together.

The structure of real crawls is described by Boldi and Vigna, "The WebGraph framework I" (2004):
most lead to pages nearby in that order, and pages that list one another form blocks.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream
from clmst.generators.surrogates.attachment import draws_of
from clmst.generators.surrogates.rows import CHUNK, Draw, graph_of_edges

_SEED = 13
_SMALLEST_SITE, _LARGEST_SITE = 20, 17_000
_SMALLEST_BLOCK, _LARGEST_BLOCK = 6, 489
_MENUS = (16, 256)  # pages from one menu to the next: each links all pages that follow it
_TO_FRONT = 0.99  # of the pages of a site link its front page
_TO_OTHER_SITE = 0.4  # of the pages link a page elsewhere,
_OTHER_FRONT = 0.75  # most of them a front page
_LEAST_ALONE, _MOST_ALONE = 50, 1000  # pages of sites that nothing links to

Integers = npt.NDArray[np.int64]


def web_crawl(*, n: int, n_alone: int, listed: float) -> Graph:
    """Cut the vertices into sites, link each site's pages, and most sites with one another.

    Parameters
    ----------
    n : int
        Number of vertices.
    n_alone : int
        How many sites stay components of their own.
    listed : float
        The share of blocks whose pages all link one another.
    """
    pages = np.arange(n)
    fronts = _runs(n, "sites", _SMALLEST_SITE, _LARGEST_SITE, exponent=1.0)
    front = _run_starts(fronts, n)
    draws: list[Draw] = [*_site_links(pages, front), *_far_links(n, fronts, n_alone)]
    return graph_of_edges(n, [*draws, *_listed_blocks(n, front, listed)])


def _runs(n: int, name: str, least: int, most: int, *, exponent: float) -> Integers:
    """Cut 0 .. n - 1 into runs and return where they start; P(size > s) = (least / s)**exponent."""
    uniform = 1.0 - Stream.named(_SEED, name).uniform(n // least + 1)
    sizes = least / (uniform if exponent == 1.0 else np.sqrt(uniform))
    starts = np.cumsum(np.minimum(sizes, most).astype(np.int64))
    return np.concatenate([[0], starts[starts < n]])


def _run_starts(starts: Integers, n: int) -> Integers:
    """Return, for each of 0 .. n - 1, where its run starts."""
    return np.repeat(starts, np.diff(starts, append=n))


def _site_links(pages: Integers, front: Integers) -> list[Draw]:
    """Link pages to the one above them, to menus, and to the front page of their site."""
    page = pages - front
    above = front + (page & (page - 1))  # the last bit cleared: folders within folders
    menus = [front + page // stride * stride for stride in _MENUS]
    fond = np.flatnonzero(Stream.named(_SEED, "fond").uniform(pages.size) < _TO_FRONT)
    pairs = [(pages, other) for other in (above, *menus)]
    pairs.append((fond, front[fond]))
    return [draw for u, v in pairs for draw in draws_of(u.astype(np.uint32), v.astype(np.uint32))]


def _far_links(n: int, fronts: Integers, n_alone: int) -> list[Draw]:
    """Link sites: every front page to that of an earlier site, many pages to some page elsewhere.

    Pages elsewhere are found as a random page or as the front page of its site, so that large
    sites are found the most often.
    """
    site = np.repeat(np.arange(fronts.size), np.diff(fronts, append=n))
    alone = _sites_alone(fronts, n, n_alone)
    linked = fronts[~alone]
    earlier = Stream.named(_SEED, "earlier").below(
        linked.size, np.maximum(np.arange(linked.size), 1)
    )
    uniform = Stream.named(_SEED, "elsewhere").uniform(n)
    links = np.flatnonzero(uniform < _TO_OTHER_SITE)
    found = Stream.named(_SEED, "found").below(n, n).astype(np.int64)[links]
    is_front = uniform[links] < _TO_OTHER_SITE * _OTHER_FRONT
    found = np.where(is_front, fronts[site[found]], found)
    proper = ~(alone[site[links]] | alone[site[found]])
    u = np.concatenate([linked, links[proper]])
    v = np.concatenate([linked[earlier.astype(np.int64)], found[proper]])
    return list(draws_of(u.astype(np.uint32), v.astype(np.uint32)))


def _sites_alone(fronts: Integers, n: int, count: int) -> npt.NDArray[np.bool_]:
    """Choose sites of moderate size by the least hashes."""
    sizes = np.diff(fronts, append=n)
    moderate = np.flatnonzero((sizes >= _LEAST_ALONE) & (sizes <= _MOST_ALONE))
    if moderate.size < count:
        raise InvalidArgumentError(
            f"n_alone is {count} but {moderate.size} sites have {_LEAST_ALONE} to {_MOST_ALONE} "
            "pages; there must be as many"
        )
    order = np.argsort(Stream.named(_SEED, "alone").words(moderate), kind="stable")
    alone = np.zeros(fronts.size, bool)
    alone[moderate[order[:count]]] = True
    return alone


def _listed_blocks(n: int, front: Integers, listed: float) -> list[Draw]:
    """Make cliques of some blocks, which are runs of pages cut where sites end."""
    starts = np.unique(
        np.concatenate([_runs(n, "blocks", _SMALLEST_BLOCK, _LARGEST_BLOCK, exponent=2.0), front])
    )
    sizes = np.diff(starts, append=n)
    chosen = Stream.named(_SEED, "listed").uniform(starts.size) < listed
    draws: list[Draw] = []
    for size in np.unique(sizes[chosen]).tolist():
        blocks = starts[chosen & (sizes == size)]
        chunks = slices(blocks.size, max(2 * CHUNK // (size * size), 1))
        draws.extend(partial(_cliques, blocks[chunk], size) for chunk in chunks)
    return draws


def _cliques(starts: Integers, size: int) -> tuple[Array, Array]:
    one, other = (starts[:, None] + ends for ends in np.tril_indices(size, -1))
    return one.ravel().astype(np.uint32), other.ravel().astype(np.uint32)
