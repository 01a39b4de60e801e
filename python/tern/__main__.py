"""Runs the command: python -m tern."""

from .command import main

main()
