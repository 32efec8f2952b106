"""The scikit-learn estimator: validates, calls a method, stores what it found. No maths here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from rcweb.engine.limits import at_limits, without_limits
from rcweb.engine.methods import FIT_METHODS
from rcweb.engine.prepare import (
    is_extreme,
    power_of_two,
    restore,
)
from rcweb.engine.solution import Solution
from rcweb.engine.threads import one_blas_thread
from rcweb.engine.types import Array
from rcweb.estimator.fitting import check_fits_memory, fit_blocks, fit_whole
from rcweb.estimator.guided import Guided
from rcweb.estimator.measured import MeasuredMixin
from rcweb.estimator.parameters import check_parameters

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.network import Explanation, Network
    from rcweb.tables import Look


class RCweb(
    Guided, MeasuredMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Hidden regulators and the sparse network from them to the measured variables.

    The model is ``X = R C + noise``: `R` (samples x regulators) are activities, `C` (regulators x
    variables) is a network with exact zeros. The fit looks for the sparsest of all
    factorisations that explain the data equally well (Slavov, AISTATS 2010).

    Parameters
    ----------
    n_components : int or "auto"
        Number of regulators. "auto": where noise is independent, and directions above it come to an
        end, all of these, graded; elsewhere those that are certified or found and, where small
        effects are everywhere, what more than one search found. `reason_` says how.
    method : {"refined", "paper"}
        "paper" is the published algorithm, nothing added.
    degree : int or None
        Mean number of targets of a regulator, if known. None: found from the data.
    fdr : float in (0, 1)
        Expected share of false edges among those kept (method "refined"). In addition, no edge is
        kept whose own probability of being false reaches ten times that: at 0.05, one half.
    doubtful : bool
        Whether to draw edges also for regulators that are neither certified nor found (method
        "refined"); the network marks them by the grade "unconfirmed".
    quality : {"standard", "high"}
        "high" searches with three sets of starts, always samples the posterior, and longer where
        it must (method "refined").
    center : bool or "auto"
        Whether to subtract the mean of each variable. "auto": yes for "refined", no for "paper",
        whose author does not.
    random_state : int, RandomState or None
        Seeds the sampler, where the posterior has to be sampled. Searches use a fixed stream: the
        regulators do not depend on the seed. The same seed gives the same bits
        with any number of threads.
    verbose : int
        Above 0, progress is printed.
    paper_options : dict or None
        For method "paper": ``k`` (10) steps on the inflated matrix, ``epsilon`` (0.05): columns
        with a cosine above ``1 - epsilon`` are the same, ``switch_back`` ("steps" or
        "correlation").
    checkpoint : path or None
        Folder in which a long fit keeps what it has done (method "refined"). Killed and started
        again with the same data and parameters it resumes there and gives the same bits. The
        folder stays; remove it when it is no longer needed.
    prior : known targets of regulators, or None
        Path of a GMT file or an edge list, `rcweb.knowledge.GeneSets`, ``{name: members}``, a
        DataFrame (lists x variables) of probabilities, or a list of those: several sources. The
        network is found without it, bit for bit the same; `prior_` then says which lists these
        data support and who else belongs to them (method "refined"). See docs/prior.md.
    groups : one label per variable, ``{variable: label}``, or None
        Variables that vary together for another reason than a shared regulator, such as genes of
        one operon: they are no evidence for each other when a list of `prior` is judged.
    max_memory : int, str or None
        Memory that the process may take, in bytes or as in "4GB". None: what is free. A fit that is
        expected to take more is refused before it begins; see `rcweb.estimator.forecast`.

    Attributes
    ----------
    components_
        (n_components_, n_features_in_) network C; zero = no edge.
    n_components_
        Number of regulators found.
    weights_
        Best estimate of every entry before edges are chosen, shape of `components_`; its mean
        square error is smaller, but nothing in it is exactly zero.
    weights_sd_
        Standard errors of `weights_`; None if the method does not estimate them.
    edge_probability_
        Probability of every edge, shape of `components_`.
    edge_score_
        Signed and comparable across regulators: the n largest are the n best edges.
    noise_
        (n_features_in_,) standard deviation of what the network leaves unexplained.
    rotation_
        (P*, n_components_) the paper's B.
    projection_
        (n_features_in_, n_components_) activities are ``(X - mean_) @ projection_``.
    n_samples_
        Number of samples it was fitted to.
    n_features_in_
        Number of variables.
    feature_names_in_
        Their names; only there if the table had names.
    mean_
        (n_features_in_,) the mean subtracted from each variable.
    exact_zeros_
        Whether weights of non-targets are zero as far as noise can tell; if not, small effects are
        everywhere, and an edge is a weight clearly above its regulator's background.
    observed_
        (n_features_in_,) share of the samples in which each variable was measured; a value at a
        limit of detection counts for what it tells.
    limits_
        (2, n_features_in_) lower and upper limit of detection of each variable, infinite where
        none was seen. Weights, means and activities are those of values without such limits.
    singular_values_
        (P*,) of the prepared table.
    diagnosis_
        DataFrame, one row per regulator. "certified": halves of the variables that share none lead
        to it, and halves of the samples where noise is seen not to be independent and zeros are
        exact; "found": certified, or the same for any start and above chance; "frequency", "error",
        "recurrence": the numbers behind that. Edges of a regulator that is neither are not in
        `components_`; `weights_` and `edge_score_` have them.
    reason_
        Why there are so many regulators, in words.
    evidence_
        DataFrame of the numbers behind `reason_`.
    warnings_
        Sentences about parts of the result not to trust; empty if there are none.
    input_
        The input check: how the table was read and what looks suspicious, with the option that
        answers it; ``print(model.input_)``. Its warnings are also one `InputWarning`.
    trace_
        Details of the method; for "paper" one `ColumnTrace` per regulator.
    network_
        Labelled network with its table of edges; see `rcweb.network.Network`.
    regulator_names_
        ``{id: name}`` of the regulators that have one; see `set_names`.
    target_names_
        ``{id: name}`` of the variables that have one.
    prior_
        DataFrame, one row per list of `prior`: supported or not, how much of it is seen, how many
        new targets. See `guide`, which sets this and the next four.
    prior_sources_
        DataFrame: how far each of several sources of `prior` is trusted.
    prior_probability_
        (lists, n_features_in_) probability that a variable is a target of the list.
    prior_score_
        (lists, n_features_in_) agreement of every variable with the list.
    prior_weights_
        (lists, n_features_in_) change of a variable with one unit of the list's activity.
    measured_
        DataFrame, one row per factor of ``fit(X, measured=...)``: regulator, confidence, scale with
        its interval, and why it is or is not named.
    study_names_
        Of a fit to several studies: their names, S of them.
    study_means_
        (S, n_features_in_) means of the studies.
    study_noise_
        (S,) noise levels of the studies, beside `noise_`.
    studies_
        DataFrame, one row per regulator and study: what they disagree on.
    route_
        How the table was taken: "memory", or "gram" or "axes" of blocks (see docs/scale.md).
    passes_
        How often the table was read.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.simulate import simulate
    >>> truth = simulate(100, 80, 4, random_state=0)
    >>> model = RCweb(random_state=0).fit(truth.data)
    >>> model.network_
    Network(4 regulators, 80 targets, 32 edges)
    >>> model.reason_
    '4 regulators: 4 singular values stand above noise; ...'
    >>> model.transform(truth.data).shape
    (100, 4)
    """

    # Not for scikit-learn to route through pipelines.
    __metadata_request__score = {"activities": UNUSED}  # noqa: RUF012

    # Results that other modules or scikit-learn set; those set in `_store` have their types there.
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    n_samples_: int
    route_: str
    passes_: int
    study_names_: tuple[str, ...]
    study_means_: Array
    study_noise_: Array

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        method: str = "refined",
        degree: int | None = None,
        fdr: float = 0.05,
        doubtful: bool = False,
        quality: str = "standard",
        center: bool | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        paper_options: Mapping[str, Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        max_memory: int | str | None = None,
        prior: Any = None,
        groups: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.degree = degree
        self.fdr = fdr
        self.doubtful = doubtful
        self.quality = quality
        self.center = center
        self.random_state = random_state
        self.verbose = verbose
        self.paper_options = paper_options
        self.checkpoint = checkpoint
        self.max_memory = max_memory
        self.prior = prior
        self.groups = groups

    def fit(self, X: Any, y: None = None, *, batch: Any = None, measured: Any = None) -> Self:
        """Find the network behind `X`; returns the fitted model itself.

        X : (n_samples, n_features) an array or DataFrame. NaN is "not measured" (tables in memory
            only). It may also be sparse, a dask or zarr array, a memory map, an AnnData object, or
            the path of a .npy, .zarr, .h5ad or .parquet file: such tables are read in blocks of
            samples. A list of tables, or ``{name: table}``, are several studies, joined by the
            names of their variables
        y : ignored
        batch : a label per sample, of one table that holds several studies
        measured : regulators measured in some samples: a DataFrame of samples x factors, NaN where
            not measured, joined to `X` by sample name, or an array with all samples of `X`

        Several studies have one network, but own means and noise levels. What they disagree on is
        in `studies_`. Which measured factors are seen in these data, as which regulator and on
        which scale, is in `measured_`; those that are seen take part in the fit where they can
        improve it, others change nothing (docs/measured.md).

        Raises ValueError for parameters and tables that cannot be fitted, and
        `rcweb.estimator.forecast.MemoryForecastError`, before it begins, for a fit that would take
        more memory than `max_memory`. Warns with `rcweb.tables.InputWarning` if the table looks
        suspicious.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(100, 80, 4, random_state=0).data
        >>> X[3, 5] = float("nan")  # not measured
        >>> float(RCweb(4).fit(X).observed_[5])
        0.99
        >>> RCweb(4).fit(X, batch=["first"] * 50 + ["second"] * 50).study_names_
        ('first', 'second')
        """
        from rcweb.tables.studies import are_tables

        check_parameters(self.get_params())
        if batch is not None or are_tables(X):
            from rcweb.estimator.studies import fit_studies

            if measured is not None:
                raise ValueError(
                    "measured is for one table; after a fit to several studies call "
                    "measure(transform(X, batch=batch), measured)."
                )
            return fit_studies(self, X, batch)
        return self._fit_one(X, measured)

    def _fit_one(self, X: Any, measured: Any = None, *, limits: bool = True) -> Self:
        """`fit` for one table; `limits` : whether values may lie at limits of detection."""
        from rcweb.blocks import as_blocks, gather, in_blocks, learn_names
        from rcweb.engine.lone import lone_note
        from rcweb.tables import Origin

        method, table, factors = FIT_METHODS[self.method], X, None
        limits &= method.solve is None  # others get every entry as it is
        center = method.centers if self.center == "auto" else bool(self.center)
        blocks, observed = as_blocks(X), None
        samples = getattr(X, "index", None) if blocks is None else getattr(blocks, "samples", None)
        origin, whole = Origin.of(X, getattr(blocks, "samples", None)), blocks is None
        if blocks is None:
            X = self._validated(X, ensure_min_samples=2, ensure_min_features=2)
            # Before filling: the input check must see which values are missing.
            self._check_input(origin.look(X, self._given_names()), origin.source)
            n_samples = X.shape[0]
            X, observed = self._fill(X, limits)
            blocks = in_blocks(X) if method.solve is None or issparse(X) else None
        else:
            learn_names(self, blocks)
            n_samples = blocks.shape[0]
            self.limits_ = without_limits(blocks.shape[1])
        if measured is not None:
            from rcweb.knowledge.measured import align_measured

            # A list has a method of that name.
            names = None if callable(samples) else samples
            factors = align_measured(measured, names, n_samples)
        # Before the fit itself allocates memory, so that a refusal costs little time.
        check_fits_memory(self, X, blocks)
        # One BLAS thread: sums in another order would change the last bits, then the edges.
        with one_blas_thread():
            # Some methods and shapes need the whole table in memory; `gather` reads those.
            if blocks is not None and (gathered := gather(blocks, self.method)) is not None:
                if not whole:
                    self._check_input(origin.look(gathered, self._given_names()), origin.source)
                (X, observed), blocks = self._fill(gathered, limits), None
            if blocks is None:
                values = None if factors is None else factors.to_numpy(np.float64)
                prepared, solution = fit_whole(self, X, center, observed, values)
            else:
                unchecked = None if whole else origin
                prepared, solution = fit_blocks(self, blocks, center, observed, unchecked)
            solution = restore(solution, prepared, self._given_names())
        self.mean_ = prepared.mean
        self.n_samples_ = n_samples
        self.observed_ = np.ones(len(self.mean_)) if observed is None else observed
        self._store(solution)
        self.warnings_ += lone_note(
            prepared.lone, samples, getattr(self, "feature_names_in_", None)
        )
        if factors is not None:
            self._match_fitted(table, factors, solution.measured)
        return self if self.prior is None else self.guide(self.prior, self.groups)

    def fit_transform(
        self, X: Any, y: None = None, *, batch: Any = None, measured: Any = None
    ) -> Array:
        """``fit(X, batch=batch, measured=measured).transform(X, batch=batch)``.

        X, y, batch, measured : as in `fit`

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> RCweb(4).fit_transform(simulate(100, 80, 4, random_state=0).data).shape
        (100, 4)
        """
        return self.fit(X, batch=batch, measured=measured).transform(X, batch=batch)

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
            X = self._validated(X, reset=False)
            if not issparse(X):
                return error_projector(self)(X, 0) if return_std else projector(self).activities(X)
            blocks = sparse_blocks(X)
        check_names(self, blocks)
        if return_std:
            return project_with_error(blocks, error_projector(self))
        return project_blocks(blocks, projector(self))

    def _validated(self, X: Any, **options: Any) -> Any:
        """A table that scikit-learn knows, as float64 in C order (sums over another layout differ
        in the last bits) or as sparse rows of any type."""
        from rcweb.tables import as_numbers

        return validate_data(
            self,
            as_numbers(X),
            dtype="numeric" if issparse(X) else np.float64,
            order="C",
            accept_sparse="csr",
            ensure_all_finite="allow-nan",
            **options,
        )

    def _check_input(self, look: Look, source: str) -> None:
        """Store the input check in `input_`, and warn if the table looks suspicious."""
        from rcweb.tables import InputWarning, check_object

        self.input_ = check_object(look, source)
        if self.input_.warnings:
            warnings.warn(InputWarning("\n".join(self.input_.warnings)), stacklevel=4)

    def _fill(self, X: Any, limits: bool) -> tuple[Any, Array | None]:
        """The table with missing values, and those at limits of detection, filled, and the measured
        share of each variable; the table itself and None if there are none of either."""
        self.limits_ = without_limits(X.shape[1])
        if issparse(X):
            return X, None
        from rcweb.tables.limits import find_limits

        found = find_limits(X) if limits else None
        if found is None and np.isfinite([X.min(), X.max()]).all():  # NaN comes through
            return X, None
        from rcweb.engine.missing import check_missing, fill

        check_missing(X, self._given_names())
        if found is not None:
            self.limits_ = np.stack(found)
        filled = fill(X, limits=found)
        if self.verbose:
            holes = f"{np.isnan(X).sum():,} missing values"
            beyond = f", {at_limits(X, self.limits_).sum():,} at limits of detection"
            what = holes + (beyond if found is not None else "")
            print(f"filled: {what}, by {filled.n_components} directions")
        return filled.data, filled.observed

    def inverse_transform(self, X: Any) -> Array:
        """Predict the variables from activities: ``X @ components_ + mean_``.

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
        return X @ self.components_ + self.mean_

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
        limits = getattr(self, "limits_", None)
        project = (
            projector(self)
            if activities is None
            else KnownActivities(self.mean_, activities, limits)
        )
        blocks = as_blocks(X)
        if blocks is None:
            X = self._validated(X, reset=False)
            blocks = sparse_blocks(X) if issparse(X) else None
        if blocks is not None:
            check_names(self, blocks)
            return explained(blocks, project, self.components_)
        predicted = project.activities(X) @ self.components_ + self.mean_
        X = project.read(X)
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

    def explain(
        self, variable: str, X: Any = None, *, activities: Any = None, batch: Any = None
    ) -> Explanation:
        """The regulators of one variable; ``print`` shows a table.

        variable : its id or its name
        X : samples, in memory; with them the result also has the share of the variance that each
            regulator explains there, and the profile of the variable
        activities : ``transform(X)``, if it is known already, or instead of `X`
        batch : as in `transform`; differences between the means of studies are then taken off

        Returns a `rcweb.network.Explanation`. Raises ValueError, with near names, for a variable
        that is not in the model.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(120, 100, 5, random_state=0).data
        >>> print(RCweb(5).fit(X).explain("x3", X))
        x3: 2 regulators, 87% of its variance
        regulator  weight probability score     grade share
           rcweb2 -0.0437       1.000 -21.4 certified   46%
           rcweb4 -0.0417       1.000 -20.4 certified   41%
        Shares of variance are measured in the data given.
        """
        from rcweb.estimator.explain import explain_variable

        check_is_fitted(self)
        return explain_variable(self, variable, X, activities, batch)

    @property
    def network_(self) -> Network:
        """The labelled network, `rcweb.network.Network`; its ``edges()`` is a table sorted by
        score."""
        from rcweb.network import Network, grades_of

        check_is_fitted(self)
        return Network(
            weights=self.components_,
            probability=self.edge_probability_,
            score=self.edge_score_,
            regulators=tuple(self.get_feature_names_out()),
            targets=self._target_names(),
            grades=grades_of(self.diagnosis_),
            **self._shown_names(),
        )

    def set_names(
        self,
        regulators: Mapping[str, str] | pd.Series | None = None,
        targets: Mapping[str, str] | pd.Series | None = None,
    ) -> Self:
        """Name regulators, targets or both; all exports then hold id and name.

        regulators, targets : ``{id: name}`` or a Series. None leaves names unchanged; anything else
            replaces all names of that kind. An empty or missing name means no name. `targets` may
            name variables that the model does not have; `regulators` may not

        ``set_names(name_regulators(model, known)["name"])`` names regulators after known ones.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> model = RCweb(3).fit(simulate(60, 40, 3, random_state=0).data)
        >>> model.set_names({"rcweb0": "fur"}).network_.regulator_labels
        ('fur (rcweb0)', 'rcweb1', 'rcweb2')
        """
        check_is_fitted(self)
        if regulators is not None:
            known = set(self.get_feature_names_out())
            if unknown := [key for key in dict(regulators) if key not in known]:
                raise ValueError(
                    f"There is no regulator {unknown[0]!r}; ids are rcweb0, rcweb1, ..."
                )
            self.regulator_names_ = _given_names(regulators, known)
        if targets is not None:
            self.target_names_ = _given_names(targets, set(self._target_names()))
        return self

    def _shown_names(self) -> dict[str, tuple[str, ...]]:
        """Names of a `Network`; a model saved by an earlier version has none."""
        regulators = getattr(self, "regulator_names_", {})
        targets = getattr(self, "target_names_", {})
        return {
            "regulator_names": tuple(regulators.get(i, i) for i in self.get_feature_names_out()),
            "target_names": tuple(targets.get(i, i) for i in self._target_names()),
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _given_names(self) -> Any:
        """Names of the variables, (n_features_in_,), or None if the table had none."""
        return getattr(self, "feature_names_in_", None)

    def _target_names(self) -> tuple[str, ...]:
        names = self._given_names()
        if names is None:
            return tuple(f"x{i}" for i in range(self.n_features_in_))
        return tuple(map(str, names))

    def _store(self, solution: Solution) -> None:
        self.components_ = solution.C
        self.weights_ = solution.weights
        self.weights_sd_ = solution.weights_sd
        self.n_components_ = len(solution.C)
        self.projection_ = solution.projection
        self.rotation_ = solution.rotation
        self.singular_values_ = solution.singular_values
        self.edge_probability_ = solution.probability
        self.edge_score_ = solution.score
        self.noise_ = solution.noise
        self.exact_zeros_ = solution.exact
        self.directions_, self.spread_ = solution.directions, solution.spread
        self.reason_ = solution.reason
        self.warnings_ = solution.warnings
        self.trace_ = solution.trace
        # Studies, known lists, factors and names of an earlier fit belong to other regulators.
        earlier = ("study_", "prior_", "_prior", "_measured")
        for name in [n for n in vars(self) if n.startswith(earlier)]:
            delattr(self, name)
        self.regulator_names_, self.target_names_ = {}, {}
        self._evidence = solution.evidence
        # A function, called at first use: not every user needs the diagnosis.
        self._diagnose = solution.diagnosis

    def _make_diagnosis(self) -> None:
        """Compute the records once, and release the arrays behind them."""
        if hasattr(self, "_diagnose"):
            with one_blas_thread():
                self._diagnosis = self._diagnose()
            del self._diagnose

    def __getstate__(self) -> dict[str, Any]:
        """The state for a copy, a pickle or a model file."""
        self._make_diagnosis()
        state: dict[str, Any] = super().__getstate__()
        return state

    @property
    def diagnosis_(self) -> pd.DataFrame:
        """How every regulator was found and how far to trust it, a row each; made at first use.

        certified : found again in halves of the variables that share none, and of the samples where
            noise is seen not to be independent, directions above it come to an end and zeros are
            exact
        found : certified, or sparser than chance and the same for any start
        frequency : share of the other searches that have it
        error : expected 1 - cosine between this regulator and that of another set of searches
        recurrence : agreement of disjoint halves of the variables, 0 to 1
        edges, zeros : number of targets, and of the non-targets that determine the regulator
        noise_ratio : near 1 when zeros are exact, larger when they are only small
        gap : near 1 when another column fits as well
        score, chance : sparseness found, and the best that the same search reaches by chance
        share : part of the regulator that no other one explains

        Other methods than "refined" have other columns.
        """
        self._make_diagnosis()
        return self._table("_diagnosis", index=self.get_feature_names_out())

    @property
    def evidence_(self) -> pd.DataFrame:
        """The numbers behind the choice of the number of regulators; `reason_` says it in words."""
        return self._table("_evidence")

    @property
    def studies_(self) -> pd.DataFrame:
        """What several studies disagree on, after a fit to them; one row per regulator and study.

        regulator, study, n_samples : of which regulator, in which study, of how many samples
        variance_share : share of the study's variance that the regulator alone accounts for
        correlation : of the regulator's row as that study alone gives it, with the common one
        excess : squared deviation of the two in standard errors, beside its usual size
        q : of that excess, by chance; Benjamini-Hochberg
        disagrees : whether q is below 0.05
        """
        check_is_fitted(self, "study_records_")
        return self._table("study_records_")

    def _table(self, name: str, index: Any = None) -> pd.DataFrame:
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(getattr(self, name), index=index)

    def _html_repr(self) -> str:
        """The notebook view: scikit-learn's diagram and, once fitted, the network."""
        from rcweb.estimator.html import model_html

        return model_html(self, super()._html_repr())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Results are float64 for any input type.
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _given_names(names: Mapping[str, str] | pd.Series, known: set[str]) -> dict[str, str]:
    """``{id: name}`` of what is `known` and has a name."""
    return {str(k): str(v) for k, v in names.items() if k in known and isinstance(v, str) and v}
