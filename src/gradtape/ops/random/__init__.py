"""Random ops: pure functions of a Philox key and counter."""
