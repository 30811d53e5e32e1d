"""Runs: what they leave behind."""
