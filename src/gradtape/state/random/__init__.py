"""Random state: seeds, streams and generators."""
