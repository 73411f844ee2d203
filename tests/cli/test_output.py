"""What goes to stdout, and what does not."""

from __future__ import annotations

import subprocess
import sys


def test_what_a_native_library_prints_does_not_mix_with_the_data() -> None:
    code = (
        "import os\nfrom edgekit.cli import output\noutput.keep_stdout_for_data()\n"
        "os.write(1, b'from a library\\n')\noutput.line('data')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("data\n", "from a library\n")
