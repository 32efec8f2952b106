"""Tables larger than memory, sparse, or on a cluster: read in blocks of rows, in a few passes.

May import: engine, tables, storage.
Exports: `as_blocks` and `open_blocks` (sources), `condense`, `transform_blocks` and their parts.
"""

from rcweb.blocks.activities import (
    KnownActivities,
    check_names,
    error_projector,
    explained,
    learn_names,
    project_blocks,
    project_with_error,
    projector,
    transform_blocks,
)
from rcweb.blocks.base import Blocks
from rcweb.blocks.reader import Reader
from rcweb.blocks.recognise import (
    anndata_blocks,
    as_blocks,
    in_blocks,
    open_blocks,
    sparse_blocks,
)
from rcweb.blocks.route import route_of
from rcweb.blocks.streamed import condense, gather

__all__ = [
    "Blocks",
    "KnownActivities",
    "Reader",
    "anndata_blocks",
    "as_blocks",
    "check_names",
    "condense",
    "error_projector",
    "explained",
    "gather",
    "in_blocks",
    "learn_names",
    "open_blocks",
    "project_blocks",
    "project_with_error",
    "projector",
    "route_of",
    "sparse_blocks",
    "transform_blocks",
]
