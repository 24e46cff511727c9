"""python -m onnx_autodoc"""

from onnx_autodoc.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
