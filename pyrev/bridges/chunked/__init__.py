"""Loop functions over arrays in chunks: what each chunk needs, and its tasks.

A program is cut into *stages*; a stage runs once for each *block*, which owns a chunk
of what the stage writes. `phases` says which loops an owned part needs and what those
read, by ISL, for all blocks at once; `slices` walks a stage backwards with that;
`restricted` prints the stage for one block, on *windows* of its arrays, as an ordinary
loop function; `plan` makes tasks of all this, `tasks` is what they run. Whatever runs
tasks can run them: `pyrev.bridges.dask` hands them to Dask.
"""
