"""Sessions: runs that are written call by call, and stay open between the calls."""

from planner.sessions.door import SessionDoor, open_session

__all__ = ["SessionDoor", "open_session"]
