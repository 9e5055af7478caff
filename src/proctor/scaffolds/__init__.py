"""Projects to begin with: what `proctor init` writes, which runs and grades as it stands."""

from __future__ import annotations

from proctor.scaffolds.making import KINDS, SERVICES, Kind, Scaffold, Service, scaffold, write

__all__ = ["KINDS", "SERVICES", "Kind", "Scaffold", "Service", "scaffold", "write"]
