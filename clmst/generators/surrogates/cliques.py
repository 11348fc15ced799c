"""Surrogate graphs that consist of cliques: co-authors of papers, and a crawl of the web.

A surrogate stands for a real graph that a paper has measured.

Boldi and Vigna describe the structure of real crawls in "The WebGraph framework I" (2004). Most
links lead to pages that are near in the order of addresses, and pages that list one another form
blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream, next_word, next_words
from clmst.generators.surrogates.rows import CHUNK, Draw, draws_of, graph_of_edges

Integers = npt.NDArray[np.int64]

_SEED = 13
_SMALLEST_SITE, _LARGEST_SITE = 20, 17_000
_SMALLEST_BLOCK, _LARGEST_BLOCK = 6, 489
_MENUS = (16, 256)  # pages from one menu to the next; a menu links those in between
_TO_FRONT = 0.99  # fraction of the pages of a site that link its front page
_TO_OTHER_SITE = 0.4  # fraction of the pages that link a page of another site,
_OTHER_FRONT = 0.75  # and fraction of these links that lead to a front page
_LEAST_ALONE, _MOST_ALONE = 50, 1000  # size in pages of an isolated site

_FIRST_HASH = 7
_SMALLEST, _SPREAD = 4, 80  # a clique has 4 to 83 members, mostly few
_NEARBY = np.uint64(256)  # three of four members lie this near to the base


def co_authors(*, n: int, drawn: int) -> Graph:
    """Make a graph of a path through all `n` vertices and of random cliques.

    Cliques are drawn until there are `drawn` edges. The hash of a clique determines its size, its
    base vertex and its members. It is also the state from which the hash of the next clique is
    computed.
    """
    return graph_of_edges(n, _draws(n, drawn))


def _draws(n: int, drawn: int) -> Iterator[Draw]:
    for chunk in slices(n - 1, CHUNK):
        yield partial(_path, chunk)
    for size, hashes in _cliques_by_size(n - 1, drawn).items():
        for chunk in slices(len(hashes), max(CHUNK // (size * size // 2), 1)):
            yield partial(_author_pairs, np.array(hashes[chunk], np.uint64), size, n)


def _cliques_by_size(drawn: int, target: int) -> dict[int, list[int]]:
    """Draw cliques until there are `target` edges in all, and return their hashes by size.

    `drawn` is the number of edges that exist before the call. The keys of the result are the
    numbers of members.
    """
    cliques = defaultdict(list)
    word = _FIRST_HASH
    while drawn < target:
        word = next_word(word)
        fraction = (word >> 11) * 2.0**-53
        size = _SMALLEST + int(_SPREAD * (fraction * fraction))
        cliques[size].append(word)
        drawn += size * (size - 1) // 2
    return cliques


def _path(chunk: slice) -> tuple[Array, Array]:
    vertices = np.arange(chunk.start, chunk.stop + 1, dtype=np.uint32)
    return vertices[:-1], vertices[1:]


def _author_pairs(hashes: Array, size: int, n: int) -> tuple[Array, Array]:
    """Return all pairs of members in cliques of one size, as arrays (u, v).

    `hashes` has the hash of each clique, and `n` is the number of vertices.
    """
    bases = next_words(hashes + np.uint64(1)) % np.uint64(n)
    words = next_words(hashes[:, None] + np.arange(2, 2 + size, dtype=np.uint64))
    is_near = words & np.uint64(3) != np.uint64(0)
    words >>= np.uint64(8)
    return _member_pairs(np.where(is_near, bases[:, None] + words % _NEARBY, words) % np.uint64(n))


def web_crawl(*, n: int, n_alone: int, listed: float) -> Graph:
    """Make a graph of `n` web pages, in which each web site is a range of pages.

    The pages within a site are linked, and most sites are linked to one another. `n_alone` sites
    lack links to others, so each is a component. Sites are divided into blocks, and the fraction
    `listed` of the blocks are cliques.
    """
    pages = np.arange(n)
    fronts = _runs(n, "sites", _SMALLEST_SITE, _LARGEST_SITE, exponent=1.0)
    front = np.repeat(fronts, np.diff(fronts, append=n))  # the front page of each page's site
    draws: list[Draw] = [*_site_links(pages, front), *_far_links(n, fronts, n_alone)]
    return graph_of_edges(n, [*draws, *_listed_blocks(n, front, listed)])


def _runs(n: int, name: str, least: int, most: int, *, exponent: float) -> Integers:
    """Divide the numbers 0, ..., n - 1 into ranges of random size, and return their starts.

    The sizes follow a power law, P(size > s) = (least / s)**exponent, but are at most `most`.
    `exponent` is 1 or 2. `name` is the name of the stream of random numbers.
    """
    uniform = 1.0 - Stream.named(_SEED, name).uniform(n // least + 1)
    sizes = least / (uniform if exponent == 1.0 else np.sqrt(uniform))
    starts = np.cumsum(np.minimum(sizes, most).astype(np.int64))
    return np.concatenate([[0], starts[starts < n]])


def _site_links(pages: Integers, front: Integers) -> list[Draw]:
    """Link each page to the page above it, to menus, and to the front page of its site.

    `front` has the front page of each page's site. Returns functions that return the links as edges
    (u, v), chunk by chunk.
    """
    page = pages - front
    above = front + (page & (page - 1))  # clears the lowest set bit, like nested folders
    menus = [front + page // stride * stride for stride in _MENUS]
    fond = np.flatnonzero(Stream.named(_SEED, "fond").uniform(pages.size) < _TO_FRONT)
    pairs = [(pages, other) for other in (above, *menus)]
    pairs.append((fond, front[fond]))
    return [draw for u, v in pairs for draw in draws_of(u.astype(np.uint32), v.astype(np.uint32))]


def _far_links(n: int, fronts: Integers, n_alone: int) -> list[Draw]:
    """Link sites to one another.

    The front page of each site is linked to the front page of an earlier site. In addition, many
    pages are linked to a random page, or to the front page of its site, so that large sites get the
    most links. `n_alone` isolated sites get no links. There are `n` pages, and `fronts` has the
    front page of each site. Returns functions that return the links as edges (u, v), chunk by
    chunk.
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
    """Choose `count` sites that are isolated, and return a mask of them.

    They are the sites of moderate size with the lowest hashes. `fronts` has the front page of each
    site, and `n` is the number of pages. Raises InvalidArgumentError if there are too few sites of
    moderate size.
    """
    sizes = np.diff(fronts, append=n)
    moderate = np.flatnonzero((sizes >= _LEAST_ALONE) & (sizes <= _MOST_ALONE))
    if moderate.size < count:
        raise InvalidArgumentError(
            f"n_alone is {count} but {moderate.size} sites have {_LEAST_ALONE} to {_MOST_ALONE} "
            "pages; the numbers must be equal"
        )
    order = np.argsort(Stream.named(_SEED, "alone").words(moderate), kind="stable")
    alone = np.zeros(fronts.size, bool)
    alone[moderate[order[:count]]] = True
    return alone


def _listed_blocks(n: int, front: Integers, listed: float) -> list[Draw]:
    """Divide the sites into blocks, which are ranges of pages, and make cliques of some blocks.

    `n` is the number of pages, `front` has the front page of each page's site, and `listed` is the
    fraction of blocks that become cliques. Returns functions that return the edges (u, v) of the
    cliques, chunk by chunk.
    """
    starts = np.unique(
        np.concatenate([_runs(n, "blocks", _SMALLEST_BLOCK, _LARGEST_BLOCK, exponent=2.0), front])
    )
    sizes = np.diff(starts, append=n)
    chosen = Stream.named(_SEED, "listed").uniform(starts.size) < listed
    draws: list[Draw] = []
    for size in np.unique(sizes[chosen]).tolist():
        blocks = starts[chosen & (sizes == size)]
        chunks = slices(blocks.size, max(2 * CHUNK // (size * size), 1))
        members = (blocks[:, None] + np.arange(size)).astype(np.uint32)
        draws.extend(partial(_member_pairs, members[chunk]) for chunk in chunks)
    return draws


def _member_pairs(members: Array) -> tuple[Array, Array]:
    """Return the edges of several cliques of one size, as arrays (u, v).

    Each row of `members` has the vertices of a clique.
    """
    one, other = np.tril_indices(members.shape[1], -1)
    return members[:, one].ravel(), members[:, other].ravel()
