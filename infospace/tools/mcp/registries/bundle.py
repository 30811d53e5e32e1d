"""Bundles (`.mcpb`): a ZIP file with a server and a manifest that says how it is run."""

from __future__ import annotations

import io
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from infospace.core.errors import Invalid, InvalidJSON
from infospace.data.json_text import read_json
from infospace.schema.value_text import shown

LARGEST_BUNDLE: Final = 256 * 2**20
"""Bytes of a package that are fetched."""
LARGEST_UNPACKED: Final = 2**30
MOST_FILES: Final = 50_000
MANIFEST: Final = "manifest.json"

_USER = re.compile(r"\$\{user_config\.([A-Za-z_][A-Za-z0-9_.-]{0,99})\}")
_OTHER = re.compile(r"\$\{([^}]*)\}?")


def bundle_entry(data: bytes, folder: Path, name: str) -> dict[str, Any]:
    """Return what `mcp.json` says of how a bundle is run that is to be unpacked into a folder; nothing is unpacked.

    What the manifest leaves to the user becomes `${NAME_KEY}`. Raises Invalid with one sentence.
    """
    with _opened(data) as archive:
        _check_files(archive)
        return _entry(_manifest(archive), folder, name)


def unpack(data: bytes, folder: Path) -> None:
    """Unpack a bundle into a folder of its own. Raises Invalid with one sentence, and keeps nothing then."""
    with _opened(data) as archive:
        _check_files(archive)
        if folder.exists():
            raise Invalid(
                f"there is {str(folder)!r} already", hint="remove it, or give the server another name by --as"
            )
        try:
            archive.extractall(folder)
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise Invalid(f"the bundle cannot be unpacked: {error}") from None


def _opened(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError):
        raise Invalid("the bundle is no ZIP file") from None


def _check_files(archive: zipfile.ZipFile) -> None:
    files = archive.infolist()
    if len(files) > MOST_FILES or sum(info.file_size for info in files) > LARGEST_UNPACKED:
        raise Invalid(f"the bundle holds more than {MOST_FILES:,} files or {LARGEST_UNPACKED // 2**20:,} MB")
    for info in files:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in info.filename or not info.filename.isprintable():
            raise Invalid(f"the bundle holds {info.filename!r:.120}, which leads out of it")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise Invalid(f"the bundle holds the link {info.filename!r:.120}, which may lead out of it")


def _manifest(archive: zipfile.ZipFile) -> Mapping[str, Any]:
    try:
        with archive.open(MANIFEST) as file:
            text = file.read(2**20 + 1)
        value = read_json(text, what="its manifest", max_bytes=2**20)
    except KeyError:
        raise Invalid(f"the bundle has no {MANIFEST}") from None
    except InvalidJSON as error:
        raise Invalid(f"the bundle is not usable: {error.message}", hint=error.hint) from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise Invalid(f"the bundle cannot be unpacked: {error}") from None
    server = value.get("server") if isinstance(value, Mapping) else None
    config = server.get("mcp_config") if isinstance(server, Mapping) else None
    if not isinstance(config, Mapping):
        raise Invalid("the manifest of the bundle has no object `server.mcp_config`")
    return config


def _entry(config: Mapping[str, Any], folder: Path, name: str) -> dict[str, Any]:
    prefix = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")

    def filled(value: Any, what: str) -> str:
        if not isinstance(value, str) or not value.isprintable():
            raise Invalid(f"{what} in the manifest of the bundle is {shown(value)}, not a text")
        text = value.replace("${__dirname}", str(folder)).replace("${/}", "/")
        without_user = _USER.sub("", text)
        if "${" in without_user:
            unknown = _OTHER.search(without_user)
            label = unknown[0] if unknown else "${"
            raise Invalid(f"{what} in the manifest of the bundle asks for {label!r:.80}, which is not given to bundles")
        return _USER.sub(lambda found: f"${{{prefix}_{re.sub(r'[^A-Z0-9]+', '_', found[1].upper())}}}", text)

    args, env = config.get("args", []), config.get("env", {})
    if not isinstance(args, list) or not isinstance(env, Mapping):
        raise Invalid("`args` in the manifest of the bundle is a list of texts, and `env` an object of texts")
    entry: dict[str, Any] = {"command": filled(config.get("command"), "`command`")}
    entry["args"] = [filled(one, "`args`") for one in args]
    if env:
        entry["env"] = {str(key): filled(one, f"`env.{key}`") for key, one in env.items()}
    return entry
