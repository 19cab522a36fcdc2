"""The version of the program, told by every door; the image has no package to ask."""

VERSION = "0.1.0"
