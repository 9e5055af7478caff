"""What is made ready once for all trials of an invocation, and makes the place of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from proctor.host.bounds import BoundsPlan
from proctor.host.enclosure import Enclosure, Open
from proctor.host.isolation import Isolated
from proctor.host.place import Place, private_folder
from proctor.host.tree import remove_tree
from proctor.ports import Surroundings
from proctor.records.isolation import Isolation
from proctor.records.run import Limits
from proctor.records.suite import Test

if TYPE_CHECKING:
    from proctor.host.gateway import Gateway
    from proctor.host.receiver import Receiver


class Premises:
    """Where trials take place. To be closed when they are over.

    Args:
        isolated: what agents get of the operator's environment.
        work_root: where workdirs live while an agent runs; the system's temporary space when None.
        enclosure: makes what stands between their programs and the machine, given a folder for what all share.
        gateway: makes the way to the outside where they have no other, given the port of the receiver of traces.
        bounds: how limits are held.
        listens: a receiver takes what agents tell of themselves.
        told: what they are kept apart from, for the record.
    """

    def __init__(
        self,
        *,
        isolated: Isolated,
        work_root: Path | None = None,
        enclosure: Callable[[Path], Enclosure] | None = None,
        gateway: Callable[[int | None], Gateway] | None = None,
        bounds: BoundsPlan | None = None,
        listens: bool = False,
        told: Isolation | None = None,
    ) -> None:
        self.isolated = isolated
        self.told = told or isolated.told
        self._work_root = work_root
        self._bounds = bounds or BoundsPlan()
        self._folder: Path | None = None
        self._surroundings: Surroundings | None = None
        self._receiver: Receiver | None = None
        self._gateway: Gateway | None = None
        self._enclosure: Enclosure = Open()
        try:
            if enclosure is not None:
                self._enclosure = enclosure(self._own_folder())
                self.told = msgspec.structs.replace(self.told, user=self._enclosure.user)
            if listens:
                from proctor.host.receiver import Receiver

                with suppress(OSError):
                    self._receiver = Receiver()
            if gateway is not None:
                self._gateway = gateway(None if self._receiver is None else self._receiver.port)
        except BaseException:
            self.close()
            raise

    @property
    def surroundings(self) -> Surroundings:
        """What the agent is told before the first trial. Its code is loaded in a home of its own.

        Raises:
            OSError: that cannot be made.
        """
        if self._surroundings is None:
            own = self.isolated.home.make(self._own_folder(), str)
            self._surroundings = Surroundings(
                environment={**self.isolated.environment, **own}, is_confined=self._enclosure.is_confined
            )
        return self._surroundings

    def place(self, test: Test, limits: Limits) -> Place:
        """The private folder of a new trial.

        Raises:
            OSError: it cannot be made or written, or its control group cannot.
        """
        place = Place.create(
            self._work_root,
            test,
            self.isolated.environment,
            enclosure=self._enclosure,
            home=self.isolated.home,
        )
        try:
            if self._gateway is not None:
                from proctor.host.sandbox import INSIDE_URL, PROXY, RELAY

                place = replace(
                    place,
                    gate=self._gateway.open(place.root / RELAY),
                    environment={**place.environment, **(PROXY if self._gateway.hosts is not None else {})},
                )
                endpoint = INSIDE_URL
            else:
                endpoint = None
            if self._receiver is not None:
                tap = self._receiver.open(place.spool)
                environment = {**place.environment, **tap.environment(endpoint, place.environment)}
                place = replace(place, tap=tap, environment=environment)
            return replace(place, bounds=self._bounds.bounds(limits))
        except BaseException:
            place.remove()
            raise

    def check(self) -> None:
        """Try out what can be tried out before the first trial.

        Raises:
            UsageError: the sandbox cannot be set up here.
            OSError: a folder cannot be made.
        """
        from proctor.host.sandbox import Bubblewrap

        if isinstance(self._enclosure, Bubblewrap):
            place = self.place(Test(id="check"), Limits())
            try:
                self._enclosure.check(place.root, place.environment)
            finally:
                place.remove()

    def close(self) -> None:
        """Remove what was made for all trials."""
        if self._gateway is not None:
            self._gateway.close()
        if self._receiver is not None:
            self._receiver.close()
        self._gateway = self._receiver = self._surroundings = None
        folder, self._folder = self._folder, None
        if folder is not None:
            remove_tree(folder)

    def _own_folder(self) -> Path:
        if self._folder is None:
            self._folder = private_folder("proctor-home", self._work_root)
        return self._folder

    def __enter__(self) -> Premises:
        """It is ready."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        """Remove what was made."""
        self.close()
