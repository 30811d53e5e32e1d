"""Sessions: runs that are written call by call, and stay open between the calls."""

from planner.sessions.blocking import BlockingSession, open_session

__all__ = ["BlockingSession", "open_session"]
