"""The last edge is left out."""

from clmst import Forest
from tests.prove.plants.planting import plant

plant(
    lambda forest: Forest(
        n_vertices=forest.n_vertices,
        edges=forest.edges[:-1],
        weights=forest.weights[:-1],
        edge_ids=forest.edge_ids[:-1],
    )
)
