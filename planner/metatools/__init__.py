"""The six meta-tools, by which a planner finds, describes and calls any tool without having all of them listed.

File = function = name of the meta-tool. `offered` names them with their arguments; each takes a space, and knows of no
other tools than that space does.
"""
