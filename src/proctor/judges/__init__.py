"""Judges: graders that ask a language model, or a program that does."""
