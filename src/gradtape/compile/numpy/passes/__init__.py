"""Passes: each maps a program to a faster program that computes the same."""
