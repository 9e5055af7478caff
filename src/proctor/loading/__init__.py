"""Suites as people keep them, and the settings of a project, read into records."""

from __future__ import annotations

from proctor.loading.select import Selection, select, select_host, shard_of, split_tags, tag_vocabulary
from proctor.loading.setting_table import SETTINGS, Setting
from proctor.loading.settings import Resolved, SettingRow, Settings, find_settings, resolve
from proctor.loading.suite import conventional_suite, inline_suite, load_suite

__all__ = [
    "SETTINGS",
    "Resolved",
    "Selection",
    "Setting",
    "SettingRow",
    "Settings",
    "conventional_suite",
    "find_settings",
    "inline_suite",
    "load_suite",
    "resolve",
    "select",
    "select_host",
    "shard_of",
    "split_tags",
    "tag_vocabulary",
]
