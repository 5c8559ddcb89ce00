"""Elements: their structure and specs, and their ragged and sparse components."""
