"""The shapes that a suite has on disk: which one a path has, and the tests as that shape writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from proctor.errors import did_you_mean
from proctor.loading.build import checked_suite_fields
from proctor.loading.check import object_at
from proctor.loading.disk import is_file, is_folder, is_there, names_in
from proctor.loading.documents import OBJECT_ENDINGS, ReadDocument, read_document
from proctor.loading.entries import Context, Entry, Gathered, SuiteFields
from proctor.loading.faults import AtLine, Faults, Spot, shown
from proctor.loading.json_types import is_object
from proctor.records.json_value import Json

TABLE_ENDINGS = (".jsonl", ".csv")
LIST_FIELDS = ("inputs", "tests")
_TEST_FILES = tuple(f"test{ending}" for ending in OBJECT_ENDINGS)
_SUITE_FILES = tuple(f"suite{ending}" for ending in OBJECT_ENDINGS)
_KINDS = ".json, .yaml, .yml, .jsonl or .csv"


def gather(path: Path, context: Context, faults: Faults) -> Gathered:
    """The suite at a path, as it is written; what cannot be read is noted and left out."""
    nothing = Gathered(path.name, path, ())
    whole = Spot(AtLine(context.label_of(path)))
    if is_folder(path):
        return _Folder(path, context, faults).gather()
    if is_file(path):
        return _gather_file(path, context, faults)
    if is_there(path):
        faults.note(
            whole, "It is neither a file nor a folder.", f"Name a folder, or a file that ends in {_KINDS}."
        )
    else:
        faults.note(whole, "There is no such file or folder.", _neighbour(path))
    return nothing


def _gather_file(path: Path, context: Context, faults: Faults) -> Gathered:
    label = context.label_of(path)
    ending = path.suffix.lower()
    nothing = Gathered(path.stem, path.parent, ())
    if ending in TABLE_ENDINGS and not _stays(path, context, faults):
        return nothing
    if ending in TABLE_ENDINGS:
        from proctor.loading import tables

        read = tables.read_csv if ending == ".csv" else tables.read_jsonl
        gathered = Gathered(_name_of(path), path.parent, list(read(path, label, faults)))
    elif ending in OBJECT_ENDINGS:
        document = _read(path, context, faults)
        gathered = nothing if document is None else _gather_document(document, path, faults)
    else:
        kind = f"ends in {path.suffix}" if path.suffix else "has no ending"
        faults.note(
            Spot(AtLine(label)),
            f"The file {kind}; suites are files in {_KINDS}, or folders.",
            "Save it as one of these.",
        )
        return nothing
    if not gathered.entries and not len(faults):
        _note_no_tests(Spot(AtLine(label)), faults)
    return gathered


def _read(path: Path, context: Context, faults: Faults) -> ReadDocument | None:
    if _stays(path, context, faults):
        return read_document(path, context.label_of(path), faults)
    return None


def _stays(path: Path, context: Context, faults: Faults) -> bool:
    if not context.leaves_checkout(path):
        return True
    faults.note(
        Spot(AtLine(context.label_of(path))),
        "It is a link that leaves the repository that the suite is from.",
        "Keep the files of a suite from git in its repository.",
    )
    return False


def _gather_document(document: ReadDocument, path: Path, faults: Faults) -> Gathered:
    spot = Spot(document)
    nothing = Gathered(path.stem, path.parent, ())
    if isinstance(document.value, list):
        faults.note(spot, "The file holds a list.", 'Put it under a name: {"inputs": [...]}.')
        return nothing
    raw = object_at(document.value, spot, faults, what="a suite", example='{"inputs": [...]}')
    if raw is None:
        return nothing
    field = next((name for name in LIST_FIELDS if name in raw), None)
    if field is None:
        _note_no_list(raw, spot, path, faults)
        return nothing
    good = checked_suite_fields(raw, spot, faults)
    entries: list[Entry] = []
    for index, written in enumerate(cast("list[Json]", good.get(field, []))):
        place = spot.at(field, index)
        fields = object_at(written, place, faults, what="a test")
        if fields is not None:
            line = document.entry_line(place.path)
            entries.append(Entry(place, fields, path.parent, f"{document.label}:{line}"))
    return Gathered(_name_of(path), path.parent, entries, SuiteFields(spot, good, path.parent))


def _note_no_list(raw: dict[str, Json], spot: Spot, path: Path, faults: Faults) -> None:
    near = [name for name in raw if name != "input" and did_you_mean(name, LIST_FIELDS)]
    if near:
        faults.note(
            spot.at(near[0]),
            f"{near[0]} is not a field of a suite.",
            f"Did you mean `{did_you_mean(near[0], LIST_FIELDS)}`?",
        )
    elif "input" in raw or "id" in raw:
        fix = 'Write {"inputs": [...]} around it, or name the folder that holds it.'
        if path.stem == "test":
            fix = f"Name the folder instead: {Path(spot.file).parent}."
        faults.note(spot, "The file holds one test, and no list of them.", fix)
    elif path.name in _SUITE_FILES and "defaults" in raw:
        faults.note(
            spot,
            "The file holds defaults, and no tests.",
            f"Name its folder instead: {Path(spot.file).parent}.",
        )
    else:
        faults.note(spot, "The file has no list of tests.", 'Write them under `inputs`: {"inputs": [...]}.')


class _Folder:
    """A folder that is a suite."""

    def __init__(self, path: Path, context: Context, faults: Faults) -> None:
        self.path = path
        self.context = context
        self.faults = faults
        self.spot = Spot(AtLine(context.label_of(path)))

    def gather(self) -> Gathered:
        own = self._named(self.path, _TEST_FILES)
        if own is not None:
            entry = self._test_in(self.path, own)
            return Gathered(self.path.name, self.path, [entry] if entry else [])
        try:
            names = sorted(entry.name for entry in self.path.iterdir() if not entry.name.startswith("."))
        except OSError as error:
            self.faults.note(
                self.spot, f"The folder cannot be read: {error.strerror}.", "Check its permissions."
            )
            return Gathered(self.path.name, self.path, ())
        children = [self.path / name for name in names]
        folders = {
            child: file
            for child in children
            if is_folder(child) and (file := self._named(child, _TEST_FILES))
        }
        files = [child for child in children if is_file(child) and child.suffix.lower() in OBJECT_ENDINGS]
        tables = [child for child in children if is_file(child) and child.suffix.lower() in TABLE_ENDINGS]
        documents = {file: _read(file, self.context, self.faults) for file in files}
        whole = [file for file, document in documents.items() if _holds_a_list(document)]
        common = [file for file in files if file.name in _SUITE_FILES and file not in whole]
        loose = [file for file in files if file not in whole and file not in common]
        if not self._is_one_shape(list(folders.values()), loose, whole, tables):
            return Gathered(self.path.name, self.path, ())
        if whole or tables:
            return self._one_file([*whole, *tables], common, documents)
        suite_fields = self._common(common, documents)
        entries = [self._test_in(folder, file) for folder, file in folders.items()]
        entries += [self._loose_test(file, documents[file]) for file in loose]
        if not entries and not len(self.faults):
            _note_no_tests(self.spot, self.faults)
        return Gathered(
            self.path.name, self.path, [entry for entry in entries if entry is not None], suite_fields
        )

    def _named(self, folder: Path, names: Iterable[str]) -> Path | None:
        """The one file of a folder that has one of these names."""
        found = [folder / name for name in names if is_file(folder / name)]
        if len(found) > 1:
            self.faults.note(
                Spot(AtLine(self.context.label_of(folder))),
                f"The folder has both {found[0].name} and {found[1].name}.",
                "Keep one of them.",
            )
        return found[0] if found else None

    def _is_one_shape(self, *shapes: Sequence[Path]) -> bool:
        kinds = ("test folders", "files of one test", "files with a list of tests", "tables")
        present = [(kind, files[0]) for kind, files in zip(kinds, shapes, strict=True) if files]
        if len(present) < 2:
            return True
        examples = ", ".join(f"{kind} ({file.relative_to(self.path).as_posix()})" for kind, file in present)
        self.faults.note(
            self.spot,
            f"The folder mixes shapes of suites: {examples}.",
            "Keep one shape in a folder; what else the tests need stands in a folder of its own.",
        )
        return False

    def _one_file(
        self, files: Sequence[Path], common: Sequence[Path], documents: dict[Path, ReadDocument | None]
    ) -> Gathered:
        if len(files) > 1:
            self.faults.note(
                self.spot,
                f"The folder holds several suites: {files[0].name} and {files[1].name}.",
                f"Name the one that is meant: {self.context.label_of(files[0])}.",
            )
            return Gathered(self.path.name, self.path, ())
        document = documents.get(files[0])
        if document is None:
            gathered = _gather_file(files[0], self.context, self.faults)
        else:
            gathered = _gather_document(document, files[0], self.faults)
            if not gathered.entries and not len(self.faults):
                _note_no_tests(Spot(AtLine(document.label)), self.faults)
        shared, own = self._common(common, documents), gathered.common
        if (
            shared is not None
            and own is not None
            and "defaults" in shared.fields
            and "defaults" in own.fields
        ):
            fix = f"Keep them in one of the two: {own.spot.file} has them as well."
            self.faults.note(shared.spot.at("defaults"), "The suite has its defaults in two files.", fix)
        return gathered._replace(common=shared or own)

    def _common(
        self, files: Sequence[Path], documents: dict[Path, ReadDocument | None]
    ) -> SuiteFields | None:
        """What `suite.json` says for all tests of the folder."""
        if len(files) > 1:
            self.faults.note(
                self.spot, f"The folder has both {files[0].name} and {files[1].name}.", "Keep one of them."
            )
        document = documents[files[0]] if files else None
        if document is None:
            return None
        spot = Spot(document)
        raw = object_at(
            document.value, spot, self.faults, what="what holds for all tests", example='{"defaults": {...}}'
        )
        if raw is None:
            return None
        return SuiteFields(spot, checked_suite_fields(raw, spot, self.faults), self.path)

    def _test_in(self, folder: Path, file: Path) -> Entry | None:
        entry = self._loose_test(file, _read(file, self.context, self.faults))
        return None if entry is None else entry._replace(own_id=folder.name, test_folder=folder)

    def _loose_test(self, file: Path, document: ReadDocument | None) -> Entry | None:
        if document is None:
            return None
        spot = Spot(document)
        fields = object_at(document.value, spot, self.faults, what="a test")
        if fields is None:
            return None
        own = {key: value for key, value in fields.items() if key != "$schema" or not isinstance(value, str)}
        return Entry(spot, own, file.parent, f"{document.label}:1", own_id=file.stem)


def _holds_a_list(document: ReadDocument | None) -> bool:
    return (
        document is not None
        and is_object(document.value)
        and any(name in document.value for name in LIST_FIELDS)
    )


def _note_no_tests(spot: Spot, faults: Faults) -> None:
    faults.note(
        spot,
        "There are no tests in it.",
        f"A suite is a file with tests ({_KINDS}), or a folder of test folders, each with its test.json or test.yaml.",
    )


def _name_of(path: Path) -> str:
    return path.parent.name if path.stem == "suite" else path.stem


def _neighbour(path: Path) -> str:
    if not is_folder(path.parent):
        return f"The folder {shown(path.parent.as_posix())} is not there either; check the whole path."
    near = did_you_mean(path.name, names_in(path.parent))
    return f"Did you mean {near!r}?" if near else "Check the path; it is relative to where you are."
