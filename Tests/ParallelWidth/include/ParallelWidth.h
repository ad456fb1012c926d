/* Nothing to call: linking this target is enough. See ParallelWidth.c. */
