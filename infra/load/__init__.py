"""Simulated people who play over the public API, at a rate and for a time, and a report of how the server bore it."""
