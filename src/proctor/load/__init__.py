"""Suites as people keep them, and the settings of a project, read into records."""

from __future__ import annotations

from proctor.load.schemas import SCHEMA_NAMES, SchemaName, schema
from proctor.load.select import Selection, select, split_tags, tag_vocabulary
from proctor.load.settings import SETTINGS, Resolved, Setting, SettingRow, Settings, find_settings, resolve
from proctor.load.suite import inline_suite, load_suite

__all__ = [
    "SCHEMA_NAMES",
    "SETTINGS",
    "Resolved",
    "SchemaName",
    "Selection",
    "Setting",
    "SettingRow",
    "Settings",
    "find_settings",
    "inline_suite",
    "load_suite",
    "resolve",
    "schema",
    "select",
    "split_tags",
    "tag_vocabulary",
]
