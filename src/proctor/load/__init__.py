"""Suites as people keep them, and the settings of a project, read into records."""

from __future__ import annotations

from proctor.load.schemas import SCHEMA_NAMES, SchemaName, schema
from proctor.load.select import Selection, select, select_host, split_tags, tag_vocabulary
from proctor.load.setting_table import SETTINGS, Setting
from proctor.load.settings import Resolved, SettingRow, Settings, find_settings, resolve
from proctor.load.suite import conventional_suite, inline_suite, load_suite

__all__ = [
    "SCHEMA_NAMES",
    "SETTINGS",
    "Resolved",
    "SchemaName",
    "Selection",
    "Setting",
    "SettingRow",
    "Settings",
    "conventional_suite",
    "find_settings",
    "inline_suite",
    "load_suite",
    "resolve",
    "schema",
    "select",
    "select_host",
    "split_tags",
    "tag_vocabulary",
]
