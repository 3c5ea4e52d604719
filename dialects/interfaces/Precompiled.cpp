// Nothing of its own: the target exists to compile the precompiled header that all targets with MLIR reuse.
