"""The `edgekit` command. A command parses, calls one function of the library, and shows its result."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from edgekit import __version__
from edgekit.cli import output
from edgekit.errors import EdgekitError, UsageError

COMMANDS = {
    "package": "Package a model for a target.",
    "check": "Say what a target would run of a model, and what blocks it.",
    "inspect": "Say what a model or a package is.",
    "run": "Run a package on images.",
    "verify": "Check that a package is intact and gives here what it gave when it was made.",
    "evaluate": "Measure a package on labelled images.",
    "compare": "Compare two models or packages: accuracy, agreement, size, latency.",
    "cache": "List, check and remove what is compiled, or compile it ahead of time.",
    "doctor": "Say what this machine can run, and what it lacks.",
    "targets": "List, show and validate target profiles.",
}


class LazyGroup(click.Group):
    """Loads a command's module only when it is called: `--help` must not pay for numpy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import `edgekit.cli.NAME` and return its command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"edgekit.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help texts from the table above, so that no command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "EDGEKIT"})
@click.version_option(__version__, prog_name="edgekit")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def entry(ctx: click.Context, debug: bool) -> None:
    """Take a trained ONNX model to an edge device, and prove that it runs there."""
    if ctx.invoked_subcommand:
        ctx.default_map = _configured()


def _configured() -> dict[str, Any]:
    """Defaults of the commands' options: the project's edgekit.yaml over the user's.

    Raises:
        UsageError: a file is no YAML mapping of commands to options.
    """
    merged: dict[str, Any] = {}
    for path in (_user_configuration(), Path("edgekit.yaml")):
        if path is None or not path.is_file():
            continue
        import yaml

        try:
            data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except (yaml.YAMLError, UnicodeDecodeError, OSError) as e:
            raise UsageError(f"{path} cannot be read as YAML: {_first_line(e)}") from e
        _check_configuration(path, data)
        for command, values in data.items():
            merged.setdefault(command, {}).update({k.replace("-", "_"): v for k, v in values.items()})
    return merged


def _user_configuration() -> Path | None:
    import platformdirs

    return Path(platformdirs.user_config_dir("edgekit")) / "edgekit.yaml"


def _check_configuration(path: Path, data: Any) -> None:
    """Refuse a command or option that does not exist: a typing error must not be silent."""
    if not isinstance(data, dict):
        raise UsageError(f"{path}: must map commands to options, such as `run: {{conf: 0.4}}`")
    for name, values in data.items():
        command = entry.get_command(click.Context(entry), str(name))
        if command is None:
            raise UsageError(f"{path}: there is no command {name!r}", hint="edgekit --help")
        if not isinstance(values, dict):
            raise UsageError(f"{path}: {name} must map options to values")
        known = {p.name for p in command.params if isinstance(p, click.Option)}
        for key in values:
            if str(key).replace("-", "_") not in known:
                raise UsageError(f"{path}: {name} has no option {key!r}", hint=f"edgekit {name} --help")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    output.keep_stdout_for_data()
    sys.exit(execute(list(sys.argv[1:] if arguments is None else arguments)))


def execute(arguments: list[str]) -> int:
    """Run the command line; every failure becomes a line, a hint and an exit code."""
    try:
        code = entry.main(args=arguments, prog_name="edgekit", standalone_mode=False)
    except click.exceptions.Exit as e:
        return int(e.exit_code)
    except click.ClickException as e:
        e.show()
        return e.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        output.note("interrupted")
        return 130
    except Exception as e:
        if "--debug" in arguments:
            raise
        return _report(e)
    return int(code) if isinstance(code, int) else 0


def _report(failure: Exception) -> int:
    """Say what failed in one line, and return the exit code for it."""
    if isinstance(failure, EdgekitError):
        output.error(str(failure), failure.hint)
        return failure.exit_code
    if isinstance(failure, BrokenPipeError):
        # whoever read our output has enough of it; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(failure, OSError):
        where = f": {failure.filename}" if failure.filename else ""
        full = failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        output.error(f"{failure.strerror or failure}{where}", "make room, then run it again" if full else None)
        return 1
    if isinstance(failure, MemoryError):
        output.error("out of memory", None)
        return 1
    output.error(
        f"unexpected {type(failure).__name__}: {_first_line(failure)}",
        "the same command with `edgekit --debug ...` shows where",
    )
    return 1


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return lines[0] if lines else type(failure).__name__
