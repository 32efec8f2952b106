"""The part of the estimator that goes from samples to activities and back, and says how well."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_array, check_is_fitted

from rcweb.engine.instrument import Instrument
from rcweb.engine.prepare import is_extreme, power_of_two
from rcweb.engine.types import Array
from rcweb.estimator.input import validated


class ProjectionMixin(TransformerMixin):
    """Activities of samples by the fitted network; mixed into `RCweb`."""

    # Not for scikit-learn to route through pipelines.
    __metadata_request__score = {"activities": UNUSED}  # noqa: RUF012

    @overload
    def transform(
        self, X: Any, return_std: Literal[False] = False, *, batch: Any = None
    ) -> Array: ...
    @overload
    def transform(
        self, X: Any, return_std: Literal[True], *, batch: Any = None
    ) -> tuple[Array, Array]: ...
    @overload
    def transform(self, X: Any, return_std: bool, *, batch: Any = None) -> Any: ...

    def transform(self, X: Any, return_std: bool = False, *, batch: Any = None) -> Any:
        """Activities of the regulators in samples, new ones or those of the fit.

        X : (n_samples, n_features_in_), anything that `fit` takes. Missing values (NaN) are ignored
        return_std : whether to return the standard deviations too
        batch : a label per sample: the mean of that study of the fit is subtracted, not the common
            one. Label None takes the common mean

        Returns an array (n_samples, n_components_); of a dask array a lazy dask array; a DataFrame
        after ``set_output(transform="pandas")``. With `return_std` a second array of that shape
        follows: the standard deviation of each activity, from noise, shrinkage and the uncertainty
        of the weights, wider where variables are missing (docs/activity.md). For results larger
        than memory see `rcweb.blocks.transform_blocks`.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(100, 80, 4, random_state=0).data
        >>> model = RCweb(4).fit(X)
        >>> activities, sd = model.transform(X[:5], return_std=True)
        >>> activities.shape, bool((sd < 0.2).all())
        ((5, 4), True)
        """
        from rcweb.blocks import (
            as_blocks,
            check_names,
            error_projector,
            project_blocks,
            project_with_error,
            projector,
            sparse_blocks,
        )
        from rcweb.tables.studies import are_tables

        check_is_fitted(self)
        if batch is not None or are_tables(X):
            from rcweb.estimator.studies import with_common_mean

            X = with_common_mean(self, X, batch)
        blocks = as_blocks(X)
        if blocks is None:
            X = validated(self, X, reset=False)
            if not issparse(X):
                return error_projector(self)(X, 0) if return_std else projector(self).activities(X)
            blocks = sparse_blocks(X)
        check_names(self, blocks)
        if return_std:
            return project_with_error(blocks, error_projector(self))
        return project_blocks(blocks, projector(self))

    def inverse_transform(self, X: Any) -> Array:
        """Predict the variables from activities: ``X @ components_ + mean_``, or what would be read
        off where a response was undone.

        X : (n_samples, n_components_) activities

        Returns (n_samples, n_features_in_).

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(100, 80, 4, random_state=0).data
        >>> model = RCweb(4).fit(X)
        >>> model.inverse_transform(model.transform(X)).shape
        (100, 80)
        """
        check_is_fitted(self)
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the model has {self.n_components_} regulators."
            )
        return Instrument.of(self).readings(X @ self.components_ + self.mean_)

    def score(self, X: Any, y: None = None, *, activities: Array | None = None) -> float:
        """Fraction of the variance of `X` that the network explains.

        X : (n_samples, n_features_in_), as for `transform`
        y : ignored
        activities : ``transform(X)``, if it is known already

        ``1 - ||X - inverse_transform(transform(X))||^2 / ||X - mean||^2`` with the means of `X`
        itself; 1 is perfect, and it is negative when the means alone would do better. Sums are over
        what was measured.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(200, 80, 4, noise=0.1, random_state=0).data
        >>> model = RCweb(4).fit(X[:100])
        >>> round(model.score(X[100:]), 2)  # of samples that the fit has not seen
        0.99
        """
        from rcweb.blocks import (
            KnownActivities,
            as_blocks,
            check_names,
            explained,
            projector,
            sparse_blocks,
        )

        check_is_fitted(self)
        project = (
            projector(self)
            if activities is None
            else KnownActivities(self.mean_, activities, Instrument.of(self))
        )
        blocks = as_blocks(X)
        if blocks is None:
            X = validated(self, X, reset=False)
            blocks = sparse_blocks(X) if issparse(X) else None
        if blocks is not None:
            check_names(self, blocks)
            return explained(blocks, project, self.components_)
        predicted = project.activities(X) @ self.components_ + self.mean_
        return _explained(project.read(X), predicted)


def _explained(X: Array, predicted: Array) -> float:
    """Share of the variance of a table in memory that is predicted; NaN was not measured."""
    seen = ~np.isnan(X)
    # Squares of extreme values overflow; dividing by a power of two is exact.
    largest = float(np.abs(X).max(where=seen, initial=0.0))
    unit = power_of_two(largest) if is_extreme(largest) else 1.0
    X, predicted = X / unit, predicted / unit
    mean = X.sum(axis=0, where=seen) / np.maximum(seen.sum(axis=0), 1)
    rest = ((X - predicted) ** 2).sum(where=seen)
    total = ((X - mean) ** 2).sum(where=seen)
    # A constant table has no variance: 1 if it is reproduced exactly, else 0.
    return float(1 - rest / total) if total > 0 else float(rest == 0)
