"""Options that several commands share, each a named decorator."""

from __future__ import annotations

import functools
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The targets whose names begin with what was typed, for the shell."""
    from edgekit import target
    from edgekit.errors import EdgekitError

    with suppress(EdgekitError):  # a broken profile is for the command to speak of
        return [CompletionItem(t.name, help=t.title) for t in target.find_all() if t.name.startswith(incomplete)]
    return []


def size(ctx: click.Context, param: click.Parameter, value: Any) -> tuple[int, int] | None:
    """Read `640`, or `480,640` (height, width)."""
    if value is None:
        return None
    try:
        sides = [int(part) for part in str(value).replace("x", ",").split(",")]
    except ValueError:
        sides = []
    if len(sides) not in (1, 2) or min(sides) < 1:
        raise click.BadParameter(f"{value!r} is no size: give 640, or 480,640 (height,width)", ctx, param)
    return (sides[0], sides[-1])


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
target_option = click.option(
    "--target", shell_complete=complete_target, help="Variant to use; the one for this machine if not given."
)
targets_option = click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    required=True,
    shell_complete=complete_target,
    help="Board, or BOARD@IMAGE; more than once for several.",
)
precision_option = click.option(
    "--precision", type=click.Choice(["auto", "fp32", "fp16", "int8"]), default="auto", show_default=True
)
package_argument = click.argument("package", type=click.Path(path_type=Path))
conf_option = click.option("--conf", type=click.FloatRange(0, 1), help="Lowest score that is kept.")
iou_option = click.option(
    "--iou", type=click.FloatRange(0, 1), help="NMS: drop a box that overlaps a better one by more."
)
max_det_option = click.option("--max-det", type=click.IntRange(1), help="Most detections per image.")


frozen_option = click.option(
    "--frozen", is_flag=True, help="Never compile here: fail (exit 5) where the cache does not hold it."
)
device_option = click.option(
    "--device", default="auto", show_default=True, help="auto, cpu, cuda[:n], mps, dml, npu or rocm[:n]."
)


def provider_options(command: Any) -> Any:
    """The provider that a user names, as `providers`: a list of one (name, options), or none."""

    @functools.wraps(command)
    def named(*args: Any, provider: str | None, provider_option: tuple[tuple[str, str], ...], **kwargs: Any) -> Any:
        if provider_option and provider is None:
            raise click.UsageError("--provider-option needs --provider NAME")
        return command(*args, providers=[(provider, dict(provider_option))] if provider else None, **kwargs)

    for option in (
        click.option(
            "--provider-option", metavar="K=V", multiple=True, callback=_pairs, help="An option of --provider."
        ),
        click.option("--provider", metavar="NAME", help="Run on this onnxruntime execution provider."),
    ):
        named = option(named)
    return named


def _pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    for value in values:
        if not value.partition("=")[0] or "=" not in value:
            raise click.BadParameter(f"{value!r} is no option: give NAME=VALUE", ctx, param)
    return tuple((value.partition("=")[0], value.partition("=")[2]) for value in values)


def model_options(command: Any) -> Any:
    """What a user can say of a model file that does not say it itself."""
    for option in (
        click.option(
            "--preprocess", metavar="PRESET|FILE", help="How an image becomes the input: a preset or a YAML file."
        ),
        click.option("--names", type=click.Path(path_type=Path), help="Class names: a text file, one a line, or YAML."),
        click.option("--imgsz", metavar="N|H,W", callback=size, help="Input size, where the model leaves it free."),
        click.option("--decoder", help="How the outputs encode the task."),
        click.option("--task", help="What the model does; raw gives the outputs as they are."),
    ):
        command = option(command)
    return command
