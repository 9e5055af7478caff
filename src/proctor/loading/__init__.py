"""Suites as people keep them, and the settings of a project, read into records."""

from __future__ import annotations

from proctor.loading.schemas import SCHEMA_NAMES, SchemaName, schema
from proctor.loading.select import Selection, select, select_host, split_tags, tag_vocabulary
from proctor.loading.setting_table import SETTINGS, Setting
from proctor.loading.settings import Resolved, SettingRow, Settings, find_settings, resolve
from proctor.loading.suite import conventional_suite, inline_suite, load_suite

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
