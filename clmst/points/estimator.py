"""The base class of the estimators, which follow scikit-learn's conventions without needing it."""

from __future__ import annotations

import inspect
import sys
import warnings
from functools import cache
from typing import Any, Self

import numpy as np

from clmst.core.arguments import has
from clmst.core.errors import (
    GraphWarning,
    InvalidArgumentError,
    InvalidGraphError,
    NotFittedError,
    callers_level,
    optional_import,
)
from clmst.core.forest import Forest
from clmst.core.point_rows import column_names
from clmst.core.weight_keys import Array

_MOST_NAMED = 5  # the maximum number of feature names that a message lists


class ClusterEstimator:
    """The base class of estimators: parameters by name, and `fit_predict`.

    A subclass defines `__init__`, `fit` and `labels_`.
    """

    # Whether points may be a sparse matrix, and whether coordinates may be missing or infinite.
    _takes_sparse_points = _takes_gaps = False
    labels_: Array
    n_features_in_: int
    feature_names_in_: Array

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator as a dictionary.

        Parameters
        ----------
        deep : bool, default True
            Without effect, because no parameter is itself an estimator.

        Returns
        -------
        dict
            The values of the parameters by their names.
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. The new values take effect at the next fit.

        Parameters
        ----------
        **params : object
            The new values. They are checked when `fit` is called.

        Returns
        -------
        ClusterEstimator
            The estimator itself.

        Raises
        ------
        InvalidArgumentError
            A given name is not a parameter of the estimator.
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
        """Find the clusters of the points `X`, and return the estimator. Subclasses define this.

        `y` is ignored.
        """
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Find the clusters of points and return the label of each point.

        Parameters
        ----------
        X : object
            The input, as :meth:`fit` takes it.
        y : object
            Ignored. It exists for compatibility with scikit-learn.

        Returns
        -------
        ndarray of int, shape (n,)
            The attribute `labels_`.

        Raises
        ------
        ClmstError
            Any error of :meth:`fit`.
        """
        return self.fit(X).labels_

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the names and the default values of all parameters."""
        return {name: one.default for name, one in inspect.signature(cls).parameters.items()}

    def __repr__(self) -> str:
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if getattr(self, name) is not default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the numbers of points and clusters, and perhaps a picture.

        There is a picture if the points have two coordinates and are few.
        """
        from clmst.drawing.thumbnail import html_of_clusters

        rows, points, labels = dict[str, str](), None, None
        if "labels_" in vars(self):
            counts = np.bincount(self.labels_[self.labels_ >= 0])
            rows = {
                "points": f"{self.labels_.size:,}",
                "clusters": f"{counts.size:,}",
                "largest": f"{counts.max(initial=0):,}",
                "noise": f"{np.count_nonzero(self.labels_ < 0):,}",
            }
            if (placed := self._places()) is not None and placed[0].shape[1] == 2:
                points, labels = placed
        return html_of_clusters(repr(self), rows, points, labels)

    def _places(self) -> tuple[Array, Array] | None:
        """Return the finite points of the fit and the labels of these points, for a picture.

        Returns None if the estimator was not fitted with points. Subclasses override this.
        """
        return None

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which say which input the estimator takes."""
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


def not_fitted(message: str) -> NotFittedError:
    """Create the error for an estimator that has not been fitted, with this message.

    If scikit-learn has been imported, the error is also scikit-learn's NotFittedError, which
    programs for scikit-learn catch.
    """
    theirs = sys.modules.get("sklearn.exceptions")
    return (NotFittedError if theirs is None else _joint_error(theirs.NotFittedError))(message)


@cache
def _joint_error(theirs: type[Exception]) -> type[NotFittedError]:
    """Return a class of errors that derives from clmst's NotFittedError and from `theirs`."""
    return type(
        "NotFittedError", (NotFittedError, theirs), {"__module__": NotFittedError.__module__}
    )


def note_features(estimator: ClusterEstimator, X: Any, n_features: int | None = None) -> None:
    """Set `n_features_in_` of an estimator, and `feature_names_in_` if columns of `X` have names.

    `n_features` is the number of coordinates of a point, or None if that is the number of columns
    of `X`.
    """
    shape: tuple[int, ...] = np.shape(X) if has(X, "shape") or isinstance(X, list | tuple) else ()
    columns = int(shape[-1]) if len(shape) == 2 else 0
    estimator.n_features_in_ = columns if n_features is None else n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if (names := _names(X)) is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _names(X: Any) -> list[str] | None:
    """Return the column names of `X`, or None if there are none or if any is not a string."""
    names = column_names(X)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_feature_names(estimator: ClusterEstimator, X: Any) -> None:
    """Raise if the columns of new points `X` have other names, or another order, than in the fit.

    A UserWarning is given if only the fit or only `X` has names. The rules are the same as in
    scikit-learn's estimators.

    Raises
    ------
    InvalidGraphError
        The names or their order differ. The message lists the names.
    """
    fitted, given = vars(estimator).get("feature_names_in_"), _names(X)
    if fitted is None and given is None:
        return
    if fitted is None or given is None:
        has_none = "X does not have valid feature names", "with"
        fact, how = has_none if given is None else ("X has feature names", "without")
        warnings.warn(
            f"{fact}, but {type(estimator).__name__} was fitted {how} feature names",
            UserWarning,
            stacklevel=callers_level(),
        )
        return
    if fitted.tolist() == given:
        return
    differences = {
        "unseen at fit time": sorted(set(given) - set(fitted)),
        "seen at fit time, yet now missing": sorted(set(fitted) - set(given)),
    }
    rule = "; ".join(
        f"feature names {what}: {', '.join(names[:_MOST_NAMED])}"
        for what, names in differences.items()
        if names
    )
    raise InvalidGraphError(
        "the feature names should match those that were passed during fit; "
        f"{rule or 'they must be in the same order, which X[model.feature_names_in_] brings about'}"
    )


def warn_of_components(forest: Forest) -> None:
    """Give a GraphWarning if the forest has several components."""
    if forest.n_components > 1:
        warnings.warn(
            f"the graph has {forest.n_components} components, which are joined at an infinite "
            "distance; a graph of more neighbours may be connected",
            GraphWarning,
            stacklevel=callers_level(),
        )
