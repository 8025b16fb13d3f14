"""From which size on a form is worth it: every threshold that chooses one, by machine.

Whatever these numbers are, a schedule is right; they only decide how fast it is. They
are handed down as an argument from what was asked of one function. A size is compared
with them by `pyrev.driver.sizes.Sizes`, which notes the answers.

Most were found by turning them over one by one on the benchmarks (`benchmarks/run.py`),
interleaved with the commit before, on two shared cores; the times beside them are of
the commit that brought them. What is a matter of an algorithm or of a format, or bounds
a text for those who read it, stands where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuCosts:
    """What is worth it on the cores of a CPU, compiled by LLVM for Numba."""

    # ---------------------------------------------------------------- all cores

    #: Operations of a nest from which on it is worth the start of all cores: that takes
    #: a few microseconds, and to compile a loop that does so a second.
    parallel_operations: int = 1 << 15
    #: Parallel iterations that are enough for any number of cores: one more loop shared
    #: out would only make them smaller.
    enough_tasks: int = 1024
    #: Owners of rows below which cores would be idle, so that copies are taken.
    least_owners: int = 48
    #: Operations in the time that an element of a private copy takes: it is cleared,
    #: written out and added.
    copy_operations: int = 3
    #: How often a loop is taken to run where data decides that.
    unknown_iterations: int = 8
    #: Elements of an array of one axis that one task owns: 16 to 32 KB.
    block_elements: int = 4096
    #: Blocks that short iterations are shared out in, at most, if those have fewer.
    blocks: int = 128
    #: Elements of an array that a core keeps in its cache while it adds to it or fills
    #: it: a private copy, or one row.
    cached_elements: int = 1 << 14

    # ---------------------------------------------------------------- layout

    #: Accesses for each element from which on two copies of an array, there and back,
    #: are paid for (bilateral slice: 535 to 398 ms).
    turned_accesses: int = 8
    #: Elements of an array that does not stay in the first cache anyway.
    turned_elements: int = 1 << 12
    #: Iterations that a loop over the elements of a record has at most.
    record_iterations: int = 64

    # ---------------------------------------------------------------- lanes

    #: Are vector instructions made of innermost loops whose elements are found by
    #: counting? Where they are not, lanes are the only ones that there can be.
    vector_rows: bool = True
    #: Iterations side by side: eight vectors of float32, and their rows stay in the
    #: first cache (gmm: 460 to 33 ms).
    lanes: int = 64
    #: Iterations from which on lanes leave no core idle.
    laned_iterations: int = 2048
    #: Elements below which a row is turned so that lanes are neighbours: the copy stays
    #: in the second cache.
    turned_row: int = 512

    # ---------------------------------------------------------------- rows for several

    #: Iterations that share rows: the planes that they read still fit a core's cache
    #: (bilateral slice: 1090 to 717 ms, register tiles included).
    sharing_iterations: int = 8
    #: Operations that are worth a row which is read instead.
    row_operations: int = 12
    #: Operations that take no longer than an element of a row takes to be read.
    reread_operations: int = 2

    # ---------------------------------------------------------------- inner loops

    #: Iterations, known beforehand, of a loop that is left to LLVM's unroller.
    unrolled_iterations: int = 16
    #: Iterations below which, where that is known, a loop fills no vector.
    vector_iterations: int = 8
    #: Arrays that one loop writes at most: with more LLVM gives up telling them apart.
    written_arrays: int = 3
    #: Terms that one loop adds to an element at most: registers hold no more.
    jammed_terms: int = 8
    #: Statements of a loop that may be written three times, at its ends and between.
    peeled_statements: int = 40

    #: Iterations from which on a sum beside writes is taken in any order. LLVM asks at
    #: run time whether the arrays are further apart than what it does at once, at most
    #: 64 elements; shorter ones may be neighbours, and where a call happens to lay its
    #: arrays would decide on the order, and on bits.
    any_order_iterations: int = 128
    #: Statements of a loop that is written twice where only the run knows whether it is
    #: that long.
    repeated_statements: int = 8

    # ---------------------------------------------------------------- contraction

    #: Elements of a row that is worth the memory asked for in each iteration.
    contracted_elements: int = 256

    # ---------------------------------------------------------------- overlap

    #: Rows of a block, of which each makes some for its neighbours once more.
    block_rows: int = 32
    #: Rows that a block makes for its neighbours, at most.
    repeated_rows: int = 8
    #: Elements of an array that is not kept in a core's cache between two loops.
    overlapped_elements: int = 1 << 18
    #: Elements that the last rows of one have at most: those are kept.
    window_elements: int = 1 << 16
    #: Blocks, at least: enough for the cores to share them evenly.
    least_blocks: int = 16

    # ---------------------------------------------------------------- register tiles

    #: Iterations at a time, the most first (conv2d: 263 to 175 ms, strided convolution
    #: 92 to 53).
    tile_factors: tuple[int, ...] = (4, 2)
    #: Values that stay the same along a row, or sums, at most: the vector registers.
    tile_registers: int = 16
    #: How many times better the model has to find a tile.
    tile_gain: float = 1.25
    #: What an element that is not beside the last one costs, in loads.
    far_element: int = 8
    #: Iterations from which on a loop is a row.
    tiled_iterations: int = 16
    #: Rows stored at a time where they move: LLVM cannot tell more apart.
    moving_rows: int = 2
    #: Parallel iterations that tiles have to leave.
    tile_tasks: int = 64
    #: Loops in one tile.
    tiled_loops: int = 2
    #: Statements of a loop that is tiled, at most, edges included.
    tiled_statements: int = 32

    # ---------------------------------------------------------------- compilation

    #: Accesses of elements, in a straight line, that one function has at most: LLVM
    #: takes more than quadratic time in them.
    straight_accesses: int = 200
    #: Nests from which on one function stands for those that differ in names and
    #: numbers.
    shared_nests: int = 16


@dataclass(frozen=True, slots=True)
class GpuCosts:
    """What is worth it on a GPU."""

    #: Threads that keep it busy: with fewer, the loops inside them are shared out too.
    busy_threads: int = 1 << 14
    #: Iterations of a loop in a row that the threads of a block share out.
    team_iterations: int = 128
    #: Elements of an array that a thread keeps in registers or memory of its own.
    own_elements: int = 64
    #: The most blocks that share one sum out.
    sum_blocks: int = 256
    #: The most blocks that make sums at a time.
    summing_blocks: int = 1 << 14
    #: The most threads that have larger arrays of their own, of which the host makes
    #: one for each.
    array_threads: int = 1 << 16


@dataclass(frozen=True, slots=True)
class Costs:
    """What is worth it: on each kind of machine, and on any."""

    cpu: CpuCosts = CpuCosts()
    gpu: GpuCosts = GpuCosts()

    # ---------------------------------------------------------------- sizes as numbers

    #: Elements of an array from which on a call pays for a compilation for its sizes.
    compiled_elements: int = 1 << 14
    #: What an extent may be to be a number in compiled text.
    numbered_extent: int = 64
    #: Operations of a call that any code is good enough for: a few milliseconds.
    any_operations: int = 2_000_000
    #: Operations of a call that has code of its own: some seconds, as to compile it.
    own_operations: int = 10_000_000_000
    #: How many times larger or smaller than what a test compares with a size may be,
    #: and code with the other answer to that is still taken.
    near_sizes: int = 8

    #: Operations on each word of an array beside which a pass for its digest is little:
    #: a twentieth of the time (heat3d, with 23: 24 to 31 ms where it was not).
    operations_beside_digest: int = 128

    # ---------------------------------------------------------------- what is kept

    #: Scalars of which each is tried as one that is kept: each is one more adjoint.
    kept_scalars: int = 4
    #: Of how many parts of what is recorded another adjoint may record one less.
    recorded_parts: int = 5
    #: Of how many parts of an iteration's operations multiplied-out partials have to
    #: save one.
    saved_parts: int = 10
    #: The part of the work, one of so many, that is worth keeping what it made.
    kept_parts: int = 4
    #: Operations in the time that it takes to ask for memory.
    allocation: int = 16

    # ---------------------------------------------------------------- nests taken apart

    #: Operations that may be repeated rather than stored.
    repeated_operations: int = 8
    #: Operations that may be repeated even in an inner loop.
    inner_operations: int = 2
    #: Operations that may be repeated where nothing else can be done.
    last_operations: int = 30
    #: Axes of an array that takes the place of a scalar.
    scalar_axes: int = 3
    #: Iterations of a nest, found again, that the unroller or one cache line takes in.
    refound_iterations: int = 64

    # ---------------------------------------------------------------- all cores

    #: Private copies, or chunks that look at data: enough for any desktop, few enough
    #: to combine serially. One number for all cores, so that sums are the same bits.
    chunks: int = 32

    # ---------------------------------------------------------------- before a call

    #: Iterations from which on all cores look at data before a call.
    inspected_iterations: int = 1 << 12
    #: Elements of a table of subscripts that is looked at as a whole first.
    table_elements: int = 1 << 14
    #: Operations that CPython does in a millisecond: no compilation is as quick.
    interpreted_operations: int = 1 << 12


#: The costs of everything that a user decorates.
SHIPPED = Costs()
