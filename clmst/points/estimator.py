"""The common part of estimators as of scikit-learn, without scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np

from clmst.core.arguments import has
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.weight_keys import Array


class ClusterEstimator:
    """Parameters by name, and `fit_predict`; a subclass has `__init__`, `fit` and `labels_`."""

    _takes_sparse_points = _takes_gaps = False  # gaps: coordinates that are not finite
    labels_: Array
    n_features_in_: int
    feature_names_in_: Array

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` changes nothing, as none is an estimator."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, and return the estimator.

        Raises
        ------
        InvalidArgumentError
            There is no such parameter.
        """
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise InvalidArgumentError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster; subclasses say what."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Cluster, and return `labels_`; see :meth:`fit`."""
        return self.fit(X).labels_

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: one.default for name, one in inspect.signature(cls).parameters.items()}

    def __repr__(self) -> str:
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if getattr(self, name) is not default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks of an estimator in a pipeline."""
        utils = optional_import("sklearn.utils", extra="cluster")
        metric = self.get_params()["metric"]
        is_precomputed = isinstance(metric, str) and metric == "precomputed"
        return utils.Tags(
            estimator_type="clusterer",
            target_tags=utils.TargetTags(required=False),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=None,
            input_tags=utils.InputTags(
                sparse=self._takes_sparse_points,
                allow_nan=self._takes_gaps and not is_precomputed,
                pairwise=is_precomputed,
            ),
        )


def note_features(estimator: ClusterEstimator, X: Any) -> None:
    """Set `n_features_in_`, and `feature_names_in_` where columns have names."""
    shape: tuple[int, ...] = np.shape(X) if has(X, "shape") or isinstance(X, list | tuple) else ()
    estimator.n_features_in_ = int(shape[-1]) if len(shape) == 2 else 0
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    names = list(X.columns) if has(X, "columns", "iloc") else []
    if names and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
