"""Collectives between processes: how workers connect, exchange arrays and notice failures."""
