"""`python -m edgekit.runtime PACKAGE IMAGE...`: the runtime alone, with numpy and onnxruntime and nothing else."""

from __future__ import annotations

import json
import sys

from edgekit.errors import EdgekitError
from edgekit.runtime import load
from edgekit.runtime.sources import expand

USAGE = "usage: python -m edgekit.runtime PACKAGE IMAGE..."


def main(arguments: list[str]) -> int:
    """Print one JSON line for each image; the exit code is that of the first failure."""
    if len(arguments) < 2 or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if "--help" in arguments or "-h" in arguments else sys.stderr)
        return 0 if "--help" in arguments or "-h" in arguments else 2
    try:
        model = load(arguments[0])
        for notice in model.notices:
            print(notice, file=sys.stderr)
        if model.fallback:
            print(f"warning: {model.fallback}: it runs on the CPU instead", file=sys.stderr)
        for result in model.stream(expand(arguments[1:])):
            print(json.dumps(result.to_dict(), ensure_ascii=False))
    except EdgekitError as e:
        print(f"error: {e}" + (f"\n  try: {e.hint}" if e.hint else ""), file=sys.stderr)
        return e.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
