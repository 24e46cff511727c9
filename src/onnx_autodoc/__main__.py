"""python -m onnx_autodoc, and where the command begins: Ctrl-C is one line already while the tool is still loading."""

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
