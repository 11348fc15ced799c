"""filter-boruvka's rounds for CPUs: each work-item works alone."""
