"""Stub libraries with the names of CUDA's: `python -m scripts.runtimes._stub_cuda PROVIDERS OUT`.

onnxruntime lists the kernels of its CUDA provider only once that has been loaded, and it loads only where the
libraries that it links to are. Nothing is computed with them: every function says that it went well. Needs gcc and
nm.
"""

import subprocess
import sys
from pathlib import Path

# functions of which an answer is awaited; all others return 0
ANSWERS = {
    "cudaGetDeviceCount": "int cudaGetDeviceCount(int* n) { *n = 1; return 0; }",
    "cudaGetDevice": "int cudaGetDevice(int* at) { *at = 0; return 0; }",
    "cudaMemGetInfo": "int cudaMemGetInfo(size_t* free, size_t* all) { *free = *all = 8ull << 30; return 0; }",
    "cudaMalloc": "int cudaMalloc(void** at, size_t n) { *at = malloc(n + 64); return 0; }",
    "cudaHostAlloc": "int cudaHostAlloc(void** at, size_t n, unsigned how) { *at = malloc(n + 64); return 0; }",
    "cudaGetErrorString": 'const char* cudaGetErrorString(int code) { return "none"; }',
    "cudaGetErrorName": 'const char* cudaGetErrorName(int code) { return "none"; }',
    "__cudaRegisterFatBinary": "static void* held[4]; void** __cudaRegisterFatBinary(void* x) { return held; }",
}
PROVIDERS = ("libonnxruntime_providers_cuda.so", "libonnxruntime_providers_tensorrt.so")
PREFIXES = ("cu", "__cuda", "nv", "createInfer", "createNv", "getInfer", "getPlugin")


def needed(folder: Path) -> dict[str, set[str]]:
    """Return the functions required of each library; those without a library are TensorRT's or the driver's."""
    found: dict[str, set[str]] = {"libcurand.so.10": set(), "libnvonnxparser.so.10": set(), "libcudnn.so.9": set()}
    for name in PROVIDERS:
        listed = subprocess.check_output(["nm", "-D", "--undefined-only", folder / name], text=True)  # noqa: S603, S607
        for symbol in (line.split()[-1] for line in listed.splitlines()):
            function, _, library = symbol.partition("@")
            if symbol.startswith(PREFIXES):
                found.setdefault(library or _unnamed(function), set()).add(function)
    return found


def _unnamed(function: str) -> str:
    if "Onnx" in function:
        return "libnvonnxparser.so.10"
    return "libcuda.so.1" if function.startswith("cu") else "libnvinfer.so.10"


def build(library: str, functions: set[str], out: Path) -> None:
    bodies = [ANSWERS.get(name, f"int {name}() {{ return 0; }}") for name in sorted(functions)]
    source, script = out / "pretend.c", out / "pretend.map"
    source.write_text("#include <stdlib.h>\n" + "\n".join(bodies) + "\n", encoding="utf-8")
    script.write_text(f"{library} {{ global: *; }};\n", encoding="utf-8")
    flags = ["-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{library}", f"-Wl,--version-script={script}"]
    subprocess.check_call(["gcc", *flags, "-o", out / library, source])  # noqa: S603, S607


def main(folder: str, out: str) -> None:
    Path(out).mkdir(parents=True, exist_ok=True)
    for library, functions in needed(Path(folder)).items():
        build(library, functions, Path(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
