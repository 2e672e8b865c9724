"""Read and write the file of a recording: a zip of JSON and of the replies as the services sent them.

===========================  ========================================================================================
manifest.json                format, version, tool, times, command, settings, and size and SHA-256 of every other part
requests.jsonl               one line per request, in the order of the answers: key, parameters, reply or error
replies/SHA256.SUFFIX        the body of a reply; equal bodies are one part
ro-crate-metadata.json       the same as linked data, for archives: RO-Crate 1.3
===========================  ========================================================================================

The comment of the zip has the SHA-256 of all bytes before it. A reader verifies it before it reads anything else, so
that no changed byte goes unnoticed. No part is ever written to a disk by its name, and nothing in it is executed.
"""

import hashlib
import json
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, BinaryIO, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from entrez_kit.base import __version__
from entrez_kit.base.atomic_files import AtomicFile
from entrez_kit.base.errors import InvalidInput, StoreError, describe_os_error
from entrez_kit.base.frontend_text import Argument, describe_wrong_value, format_count
from entrez_kit.base.input_files import cannot_read_error
from entrez_kit.base.private_files import refuse_foreign_links
from entrez_kit.base.ro_crate import CRATE, build_crate, describe_file, describe_program, refer

SUFFIX: Final = ".ekz"
VERSION: Final = 1
FORMAT: Final = "entrez-kit recording"
MANIFEST: Final = "manifest.json"
REQUESTS: Final = "requests.jsonl"

MAX_PART_BYTES: Final = 64_000_000
"""Limit of a part other than the list of requests. The transport refuses replies of more than 50 MB."""
MAX_TOTAL_BYTES: Final = 16_000_000_000
MAX_PARTS: Final = 300_000
MAX_RATIO: Final = 300
"""Limit of the decompressed size as a multiple of the file; XML of services compresses 5 to 40 times."""
SMALL_BYTES: Final = 64_000_000
"""Decompressed size up to which any ratio is accepted."""
MAX_DIRECTORY_BYTES: Final = 256_000_000
MAX_LINE_BYTES: Final = 32_000_000

_CHUNK: Final = 1_048_576
_LEVEL: Final = 6
_COMMENT: Final = re.compile(rb"entrez-kit recording sha256:([0-9a-f]{64})")
_COMMENT_BYTES: Final = len(b"entrez-kit recording sha256:") + 64
_END: Final = struct.Struct("<4s4H2LH")
"""The end record of a zip: signature, disks, entries, size and offset of the directory, length of the comment."""
_PART_NAME: Final = re.compile(r"requests\.jsonl|ro-crate-metadata\.json|replies/[0-9a-f]{64}\.[a-z]{2,4}")
_SUFFIXES: Final = {"pdf": "pdf", "html": "html", "json": "json", "xml": "xml", "text": "txt"}
_SINCE: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every part; the manifest has the real one."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ArchivePart(_Strict):
    """Size and hash of a part."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Manifest(_Strict):
    """The manifest of a recording."""

    format: Literal["entrez-kit recording"]
    version: int
    tool: str
    started: str
    ended: str
    today: str
    command: list[str]
    status: int | None
    settings: dict[str, str | int | bool | None]
    credentials: list[str]
    copy_label: str = ""
    requests: int
    parts: dict[str, ArchivePart]


class RecordedReply(_Strict):
    """A reply: its body, and what else the program knows of it."""

    part: str
    url: str
    method: Literal["GET", "POST"]
    status: int
    from_cache: bool
    attempts: int
    created: float
    content_type: str
    fidelity: str = ""


class RecordedDownload(_Strict):
    """A downloaded page: its body, and what else the program knows of it."""

    part: str
    url: str
    content_type: str
    kind: Literal["pdf", "html", "xml", "other"]
    hops: int


class RecordedRequest(_Strict):
    """A request and its outcome: one of ``reply``, ``download`` and ``error``.

    ``read`` is the part that the reader of the request accepted before the error, if there is one.
    """

    key: str = Field(pattern="^[0-9a-f]{64}$")
    service: str
    endpoint: str
    url: str
    params: list[tuple[str, str]] = []
    reply: RecordedReply | None = None
    download: RecordedDownload | None = None
    error: dict[str, Any] | None = None
    read: str | None = None


class ArchiveWriter:
    """Write a recording beside its file, part by part, and move it into place at the end; safe for threads.

    Args:
        target: the file. It stays unchanged until ``finish``.

    Raises:
        InvalidInput: the file has another suffix, or its folder does not exist.
        StoreError: it cannot be written.
    """

    def __init__(self, target: Path) -> None:
        if target.suffix.lower() != SUFFIX or target.is_dir():
            raise InvalidInput(
                describe_wrong_value(Argument("record"), f"the name of a file with the suffix {SUFFIX}", str(target)),
                invalid_input=f"record={target}",
                recovery_hint=f"Name a file such as {target.stem or 'search'}{SUFFIX}.",
                details={"reason": "bad_usage"},
            )
        self._target = target
        self._lock = Lock()
        self._parts: dict[str, ArchivePart] = {}
        self._count = 0
        try:
            refuse_foreign_links(target)
            self._new = AtomicFile(target.resolve())
        except OSError as exc:
            raise self._write_error(exc) from None
        self._zip = zipfile.ZipFile(self._new.file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._lines: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=8_000_000)  # noqa: SIM115  # closed at the end

    def add_body(self, content: bytes, content_type: str) -> str:
        """Store a body, unless it is stored already, and return the name of its part."""
        digest = hashlib.sha256(content).hexdigest()
        kind = next((suffix for word, suffix in _SUFFIXES.items() if word in content_type.lower()), "bin")
        name = f"replies/{digest}.{kind}"
        with self._lock:
            if name not in self._parts:
                if len(self._parts) >= MAX_PARTS - 3:
                    raise self._write_error(OSError(27, f"it would have more than {MAX_PARTS:,} parts"))
                self._write_part(name, content)
                self._parts[name] = ArchivePart(sha256=digest, bytes=len(content))
        return name

    def add_request(self, request: RecordedRequest) -> None:
        """Append a request to the list of requests."""
        line = request.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with self._lock:
            self._count += 1
            self._lines.write(line)

    def finish(self, **fields: Any) -> None:
        """Write the list of requests and the manifest, and move the file into place.

        Args:
            fields: the fields of the manifest that the writer does not know.

        Raises:
            StoreError: the file cannot be written.
        """
        with self._lock:
            try:
                self._write_requests()
                known = {"format": FORMAT, "version": VERSION, "tool": f"entrez-kit/{__version__}", **fields}
                crate = json.dumps(_describe_crate(known, self._parts), indent=1, ensure_ascii=False).encode()
                self._parts[CRATE] = ArchivePart(sha256=hashlib.sha256(crate).hexdigest(), bytes=len(crate))
                self._write_part(CRATE, crate)
                manifest = Manifest(**known, requests=self._count, parts=self._parts)
                self._write_part(MANIFEST, manifest.model_dump_json(indent=1).encode())
                self._zip.comment = b"0" * _COMMENT_BYTES
                self._zip.close()
                self._write_hash()
                self._new.replace(lasting=True)
            except OSError as exc:
                self._remove_file()
                raise self._write_error(exc) from None

    def discard(self) -> None:
        """Remove the temporary file; a recording that exists already stays unchanged."""
        with self._lock:
            self._remove_file()

    def _remove_file(self) -> None:
        self._lines.close()
        with suppress(OSError, ValueError):
            self._zip.close()  # otherwise its destructor writes to the closed file
        self._new.discard()

    def _write_part(self, name: str, content: bytes) -> None:
        self._zip.writestr(_build_entry(name), content)

    def _write_requests(self) -> None:
        digest, size = hashlib.sha256(), 0
        self._lines.seek(0)
        with self._zip.open(_build_entry(REQUESTS), "w", force_zip64=True) as part:
            while chunk := self._lines.read(_CHUNK):
                part.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self._lines.close()
        self._parts[REQUESTS] = ArchivePart(sha256=digest.hexdigest(), bytes=size)

    def _write_hash(self) -> None:
        """Write the hash of all bytes before the comment into the comment."""
        file = self._new.file
        file.flush()
        end = file.seek(0, 2) - _COMMENT_BYTES
        digest = _compute_start_hash(file, end)
        file.seek(end)
        file.write(b"entrez-kit recording sha256:" + digest.encode())

    def _write_error(self, exc: OSError) -> StoreError:
        return StoreError(
            f"The recording {self._target} cannot be written: {describe_os_error(exc)}.",
            invalid_input=f"record={self._target}",
            recovery_hint="Check that the folder exists and is writable, and that the disk has space.",
            details={"reason": "cannot_write"},
        )


def _build_entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _SINCE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _compute_start_hash(file: BinaryIO, size: int) -> str:
    """Return the SHA-256 of the first bytes of a file."""
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(_CHUNK, size))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()


class ArchiveReader:
    """Read a recording. The file is verified when it is opened, and each part again when it is read.

    Args:
        path: the file.

    Raises:
        InvalidInput: the file does not exist, cannot be read, or is too large.
        StoreError: it is not a recording, is damaged, or a newer version of entrez-kit wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        try:
            if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe would block
                raise OSError("it is not a regular file")
            self._file: BinaryIO = path.open("rb")
        except OSError as exc:
            raise cannot_read_error(path, exc, invalid_input=f"replay={path}") from None
        try:
            self._verify()
        except BaseException:
            self._file.close()
            raise

    def _verify(self) -> None:
        size = self._file.seek(0, 2)
        if size > MAX_TOTAL_BYTES:
            raise self.damage_error("its size", f"it has more than {MAX_TOTAL_BYTES:,} bytes")
        self._file.seek(max(0, size - _COMMENT_BYTES - _END.size))
        tail = self._file.read()
        found = _COMMENT.fullmatch(tail[_END.size :])
        if found is None:
            raise self.damage_error("its end", "the hash at its end is missing")
        intact = _compute_start_hash(self._file, size - _COMMENT_BYTES) == found[1].decode()
        try:
            signature, *_, directory_bytes, _, comment = _END.unpack(tail[: _END.size])
            if signature != b"PK\5\6" or comment != _COMMENT_BYTES or directory_bytes > MAX_DIRECTORY_BYTES:
                raise zipfile.BadZipFile("its end record")
            self._zip = zipfile.ZipFile(self._file)
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, struct.error, OSError, ValueError, NotImplementedError, RecursionError):
            raise self.damage_error("the list of its parts", "the list of its parts cannot be read") from None
        self._check_entries(entries, size)
        if not intact:
            part = self._find_damaged() or "the list of its parts"
            raise self.damage_error(part, f"the file was changed after it was written ({part})")
        self.manifest = self._read_manifest()
        if {entry.filename for entry in entries} != {MANIFEST, *self.manifest.parts}:
            raise self.damage_error("the list of its parts", "the manifest lists other parts")
        if REQUESTS not in self.manifest.parts:
            raise self.damage_error(REQUESTS, f"{REQUESTS} is missing")

    def _check_entries(self, entries: list[zipfile.ZipInfo], size: int) -> None:
        """Refuse names, sizes and methods that no recording has, before any part is decompressed."""
        names = [entry.filename for entry in entries]
        total = sum(entry.file_size for entry in entries)
        if len(names) > MAX_PARTS or len(set(names)) != len(names) or total > MAX_TOTAL_BYTES:
            raise self.damage_error("the list of its parts", "it has too many, too large or repeated parts")
        if total > max(SMALL_BYTES, MAX_RATIO * size):
            raise self.damage_error("the list of its parts", "its parts are too large for the size of the file")
        for one in entries:
            if one.filename != MANIFEST and not _PART_NAME.fullmatch(one.filename):
                raise self.damage_error(one.filename[:100], f"the part {one.filename[:100]} is unknown")
            limit = MAX_TOTAL_BYTES if one.filename in (REQUESTS, CRATE) else MAX_PART_BYTES
            if one.file_size > limit:
                raise self.damage_error(one.filename, f"{one.filename} has more than {format_count(limit, 'byte')}")
            if one.flag_bits & 1 or one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.damage_error(one.filename, f"{one.filename} is encrypted, or its compression is unknown")

    def _read_manifest(self) -> Manifest:
        try:
            content = self._read_entry(MANIFEST)
            raw = json.loads(content)
            version = raw.get("version") if isinstance(raw, dict) else None
            if isinstance(version, int) and not isinstance(version, bool) and version != VERSION:
                raise StoreError(
                    f"The recording {self.path} has version {version}; this entrez-kit reads version {VERSION}.",
                    invalid_input=f"replay={self.path}",
                    recovery_hint="Replay it with the version of entrez-kit that wrote it, or with a newer one.",
                    details={"reason": "unknown_version", "version": version},
                )
            return Manifest.model_validate_json(content)
        except (ValidationError, ValueError, RecursionError):
            raise self.damage_error(MANIFEST, f"{MANIFEST} is not a valid manifest") from None

    def _find_damaged(self) -> str | None:
        """Return the name of the first part whose content differs from the manifest; None if there is none."""
        try:
            manifest = self._read_manifest()
        except StoreError:
            return MANIFEST
        for name, part in manifest.parts.items():
            try:
                digest, size = hashlib.sha256(), 0
                with self._zip.open(name) as stream:
                    while (chunk := stream.read(_CHUNK)) and size <= part.bytes:
                        digest.update(chunk)
                        size += len(chunk)
                if digest.hexdigest() != part.sha256:
                    return name
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError, RuntimeError, NotImplementedError):
                return name
        return None

    def _read_entry(self, name: str) -> bytes:
        try:
            with self._lock, self._zip.open(name) as stream:
                content = stream.read(MAX_PART_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError, RuntimeError, NotImplementedError):
            raise self.damage_error(name, f"{name} is missing, or cannot be decompressed") from None
        if len(content) > MAX_PART_BYTES:
            raise self.damage_error(name, f"{name} has more than {MAX_PART_BYTES:,} bytes")
        return content

    def read(self, name: str) -> bytes:
        """Return the content of a part.

        Raises:
            StoreError: the part is missing, or its hash is not that of the manifest.
        """
        content, part = self._read_entry(name), self.manifest.parts.get(name)
        if part is None or hashlib.sha256(content).hexdigest() != part.sha256:
            raise self.damage_error(name, f"the hash of {name} is not that of the manifest")
        return content

    def yield_requests(self) -> Iterator[RecordedRequest]:
        """Yield the recorded requests in the order of their answers.

        Raises:
            StoreError: a line is invalid, or the hash of the list is not that of the manifest.
        """
        digest, part = hashlib.sha256(), self.manifest.parts[REQUESTS]
        try:
            with self._lock, self._zip.open(REQUESTS) as stream:
                while line := stream.readline(MAX_LINE_BYTES):
                    digest.update(line)
                    yield RecordedRequest.model_validate_json(line)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError):
            raise self.damage_error(REQUESTS, f"{REQUESTS} is not a valid list of requests") from None
        if digest.hexdigest() != part.sha256:
            raise self.damage_error(REQUESTS, f"the hash of {REQUESTS} is not that of the manifest")

    def damage_error(self, part: str, why: str) -> StoreError:
        """Return the error for a damaged part.

        Args:
            part: the part, for the details.
            why: the problem, with the name of the part.
        """
        return StoreError(
            f"{self.path} is damaged or is not a recording: {why}.",
            invalid_input=f"replay={self.path}",
            recovery_hint="Get the file again from its source, or record the command again.",
            details={"reason": "damaged_recording", "path": str(self.path), "part": part},
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _describe_crate(fields: Mapping[str, Any], parts: Mapping[str, ArchivePart]) -> dict[str, Any]:
    """Return the description of a recording: its files and the run that wrote them."""
    files = [describe_file(name, part.bytes, part.sha256) for name, part in parts.items()]
    manifest = {"@id": MANIFEST, "@type": "File", "encodingFormat": "application/json", "name": "Manifest"}
    references = refer([manifest, *files])
    command = " ".join(["entrez-kit", *fields["command"]])
    program = describe_program(fields["tool"].partition("/")[2])
    done = fields["status"] in (0, None)
    ended = "http://schema.org/CompletedActionStatus" if done else "http://schema.org/FailedActionStatus"
    root = {
        "name": f"Recording of: {command}",
        "description": "The requests of one command and the replies of the services, from which entrez-kit "
        "replays the command without a network.",
        "datePublished": fields["ended"],
        "license": "The replies belong to the services that sent them; see their terms of use.",
        "hasPart": references,
        "mentions": {"@id": "#run"},
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": command,
        "instrument": {"@id": program["@id"]},
        "result": references,
        "startTime": fields["started"],
        "endTime": fields["ended"],
        "actionStatus": {"@id": ended},
    }
    return build_crate(root, [program, run, manifest, *files])
