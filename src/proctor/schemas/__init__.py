"""The JSON Schemas (draft 2020-12) of every file that people write, and that proctor stores or prints."""

from __future__ import annotations

from proctor.schemas.catalogue import SCHEMAS, Published, file_name, published, schema

__all__ = ["SCHEMAS", "Published", "file_name", "published", "schema"]
