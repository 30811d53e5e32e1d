"""Runs, calls, approvals, audit as rows."""
