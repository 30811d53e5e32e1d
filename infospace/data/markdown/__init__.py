"""What a Markdown text says of itself: its title, tags, links, headings, bullets, tasks and inline fields."""
