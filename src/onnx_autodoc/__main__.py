"""Entry point of the command. An interrupt is one line also while modules are loading."""

import sys


def main() -> int:
    try:
        from onnx_autodoc.cli import main as run

        return run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("onnx-autodoc: error: interrupted\n")
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
