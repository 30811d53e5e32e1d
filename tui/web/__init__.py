"""The screen in a browser: a page on loopback, and a process of the screen for each that looks at it."""

DRIVER = "tui.web.driver:BrowserDriver"
"""What the variable TEXTUAL_DRIVER is where a browser looks."""
