"""Return the documents with generated parts: the README and the guides ``output`` and ``settings``."""

import re
from collections.abc import Iterator
from textwrap import fill
from typing import Final

from packaging_files import ROOT

from entrez_kit.base.output_formats import FORMATS, Format
from entrez_kit.base.settings import SETTINGS, Setting, get_default
from entrez_kit.commands import _app, load_command

README: Final = ROOT / "README.md"
OUTPUT_GUIDE: Final = ROOT / "entrez_kit" / "guides" / "output.md"
SETTINGS_GUIDE: Final = ROOT / "entrez_kit" / "guides" / "settings.md"
TABLE: Final = re.compile(r"(?<=\| command \| task \|\n\|---\|---\|\n)(?:\|.*\n)+")
FORMAT_TABLE: Final = re.compile(r"(?<=\| format \| files \| content \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")
ENTRY: Final = re.compile(r"^- `\w+`.*? ?\(`(\w+)`\):.*\n(?:  .*\n)*", re.MULTILINE)
"""A setting in a list of the guide, with its name."""
PROJECT_FILE: Final = re.compile(r"^(.+settings:)\s[^.]*(\. A value(?:.+\n)*.+)$", re.MULTILINE)
"""The paragraph of the guide with the settings that a project file can set."""
WIDTH: Final = 100


def write_readme() -> str:
    """Return the README with one row for each command."""
    rows = "".join(f"| `{usage}` | {line} |\n" for usage, line in _list_commands())
    return TABLE.sub(lambda _: rows, README.read_text(encoding="utf-8"), count=1)


def _list_commands() -> Iterator[tuple[str, str]]:
    for name, (line, _) in _app.COMMANDS.items():
        command = load_command(name)
        values = [
            re.sub(r"[^A-Z]", "", param.metavar) for param in command.params if param.param_type_name == "argument"
        ]
        yield " ".join((name, *("ID..." if value == "ID" else value for value in values))), line


def write_output_guide() -> str:
    """Return the guide with one row for each output format."""
    rows = "".join(f"| `{one}` | {_list_suffixes(one)} | {one.content} |\n" for one in FORMATS)
    return FORMAT_TABLE.sub(lambda _: rows, OUTPUT_GUIDE.read_text(encoding="utf-8"), count=1)


def _list_suffixes(one: Format) -> str:
    return ", ".join(f"`{suffix}`" for suffix in one.suffixes)


def write_settings_guide() -> str:
    """Return the guide with an entry for each setting. A new setting follows the one before it in ``Settings``."""
    text = SETTINGS_GUIDE.read_text(encoding="utf-8")
    entries = {setting.name: _wrap(f"- {describe_setting(setting)}", indent="  ") for setting in SETTINGS}
    listed = {match[1] for match in ENTRY.finditer(text)}
    after: dict[str, list[str]] = {}
    for place, setting in enumerate(SETTINGS):
        if setting.name not in listed:
            known = next(setting.name for setting in reversed(SETTINGS[:place]) if setting.name in listed)
            after.setdefault(known, []).append(setting.name)

    def replace(match: re.Match[str]) -> str:
        names = [match[1], *after.get(match[1], ())]
        return "".join(f"{entries[name]}\n" for name in names if name in entries)

    return _list_project_settings(ENTRY.sub(replace, text))


def _list_project_settings(text: str) -> str:
    """Return the guide with the settings that a project file can set."""
    allowed = [
        f"`{setting.name}`" + (" ({} to {})".format(*setting.project_range) if setting.project_range else "")
        for setting in SETTINGS
        if setting.in_project_file
    ]

    def replace(match: re.Match[str]) -> str:
        return _wrap(" ".join(f"{match[1]} {', '.join(allowed[:-1])} and {allowed[-1]}{match[2]}".split()))

    return PROJECT_FILE.sub(replace, text, count=1)


def _wrap(text: str, indent: str = "") -> str:
    return fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def describe_setting(setting: Setting) -> str:
    """Return the entry of a setting: its variables, name, description, values and default."""
    default = get_default(setting.name)
    accepted = "true or false" if setting.kind == "flag" else _describe_bounds(setting)
    if setting.name == "format":
        others = [one.name for one in FORMATS if not one.can_be_default]
        accepted = f"the formats of guide `output` except {', '.join(others[:-1])} and {others[-1]}"
    text = f"{' or '.join(f'`{name}`' for name in setting.variables)} (`{setting.name}`): {setting.help}"
    text += f" Accepts {accepted}." if accepted else ""
    if setting.name == "ncbi_tool_identifier":
        return f"{text} Default: the program and its version."
    if default is None or setting.kind == "path":
        return text
    return f"{text} Default {str(default).lower() if setting.kind == 'flag' else default}."


def _describe_bounds(setting: Setting) -> str:
    """Return the accepted values as text, such as ``50..5000``; empty without a limit."""
    if setting.choices:
        return ", ".join(setting.choices)
    if setting.high is not None:
        return f"{setting.low}..{setting.high}"
    return "" if setting.low is None else f"at least {setting.low}"
