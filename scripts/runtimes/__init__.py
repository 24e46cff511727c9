"""Tables of the operators that each runtime supports, taken from the runtimes: `python -m scripts.runtimes.<name>`.

Each script writes one file of `src/onnx_autodoc/data/runtimes`. They need packages that the tool does not
(onnxruntime-gpu, onnxruntime-qnn, openvino), so they are run by hand, in an environment of their own, when a runtime
has a new release.
"""
