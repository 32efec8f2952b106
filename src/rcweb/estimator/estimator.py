"""The scikit-learn estimator: validates, calls a method, stores what it found. No maths here."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from rcweb.engine.solution import Solution
from rcweb.engine.types import Array
from rcweb.estimator.fitting import fit_one_table
from rcweb.estimator.guided import GuidedMixin
from rcweb.estimator.measured import MeasuredMixin
from rcweb.estimator.parameters import check_parameters
from rcweb.estimator.projection import ProjectionMixin
from rcweb.estimator.results import ResultsMixin

if TYPE_CHECKING:
    from rcweb.tables import InputCheck


class RCweb(GuidedMixin, MeasuredMixin, ResultsMixin, ProjectionMixin, BaseEstimator):
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
    response : {"auto", "linear"}
        "auto": where the readings of all variables bend towards one floor or ceiling, as amounts
        without logs or a detector that saturates, that is undone before the fit and said in
        `warnings_`. "linear": values are taken as they are (methods other than "refined" always
        do). See docs/input.md.
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
    response_
        (4,) floor, lowest and highest reading, and ceiling, if one curve bends all variables, as
        saturation or a missing logarithm does; an end that is not there is infinite. Empty if
        there is no such curve. It is undone before the fit and by `transform`.
    response_slopes_
        (n_features_in_,) what values are multiplied by to have the units of the readings again;
        empty as above.
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

    # Results that other modules or scikit-learn set; those set in `_store` have their types there.
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    n_samples_: int
    mean_: Array
    observed_: Array
    limits_: Array
    response_: Array
    response_slopes_: Array
    input_: InputCheck
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
        response: str = "auto",
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
        self.response = response
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
        return fit_one_table(self, X, measured)

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

    def __getstate__(self) -> dict[str, Any]:
        """The state for a copy, a pickle or a model file."""
        self._make_diagnosis()
        state: dict[str, Any] = super().__getstate__()
        return state

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
