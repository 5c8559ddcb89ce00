"""Distributed datasets: how batches and files are divided among workers and replicas."""
