"""System calls of a verification: whatever a model names, nothing outside of its folder is opened, and no socket."""

import sys
from pathlib import Path

from fuzz.hostile import differentials
from tests.files._external_data import ODD, OUTSIDE, build_external_model, create_model
from tests.files._system_calls import PROGRAM_FOLDERS, Call, trace_process

NETWORK = ("connect", "bind", "sendto", "sendmsg")  # asyncio, which onnxruntime imports, tests what sockets there are
ROOT = Path(__file__).parents[2]


def verify_traced(tmp_path: Path, models: list[Path]) -> tuple[list[str], list[Call]]:
    """Return the outcome of each model, and the calls after onnxruntime was imported."""
    listed, temporary = tmp_path / "models", tmp_path / "temporary"
    temporary.mkdir()
    listed.write_text("".join(f"{path}\n" for path in models))
    code = f"import sys; sys.stdin = open({str(listed)!r}); sys.stdout = open({str(tmp_path / 'outcomes')!r}, 'w')"
    code += f"; sys.path.insert(0, {str(ROOT)!r}); from tests.files import _verify_in_forks; _verify_in_forks.main()"
    environment = {"TMPDIR": str(temporary), "ORT_DISABLE_TELEMETRY": "1", "ORT_LOAD_CONFIG_FROM_MODEL": "0"}
    calls = trace_process(tmp_path, [sys.executable, "-P", "-c", code], **environment)
    first = next(at for at, call in enumerate(calls) if str(listed) in f"{call.arguments}")
    return (tmp_path / "outcomes").read_text().splitlines(), calls[first:]


def check_calls(tmp_path: Path, calls: list[Call]) -> None:
    allowed = (*(str(tmp_path / name) for name in ("model", "temporary", "home", "out")), str(ROOT), *PROGRAM_FOLDERS)
    opened = {call.opened for call in calls if call.opened is not None}
    assert any(path.startswith(str(tmp_path / "model")) for path in opened)
    assert [path for path in opened if not path.startswith(allowed)] == []
    assert [call for call in calls if call.name in NETWORK] == []


def test_external_data_outside_of_the_folder_is_not_opened(tmp_path: Path) -> None:
    models = []
    for add_file in (*OUTSIDE, *ODD):
        (tmp_path / add_file.__name__).mkdir()
        models.append(create_model(tmp_path / add_file.__name__, add_file)[0])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.onnx").write_bytes(build_external_model("w.bin"))
    (tmp_path / "model" / "w.bin").write_bytes(bytes(32))
    outcomes, calls = verify_traced(tmp_path, [*models, tmp_path / "model" / "model.onnx"])
    assert outcomes[-1] == "done" and len(outcomes) == len(models) + 1
    assert [text for text in outcomes[:-1] if "the weights file" not in text] == []
    check_calls(tmp_path, [call for call in calls if call.opened not in map(str, models)])


def test_hostile_encodings_open_nothing_outside_of_the_folder(tmp_path: Path) -> None:
    """Each model is verified in a folder, beside an external file and below a file with the name of a secret."""
    models = []
    for at, build in enumerate(differentials.FILES.values()):
        models.append(tmp_path / "model" / str(at) / "model.onnx")
        models[-1].parent.mkdir(parents=True)
        models[-1].write_bytes(build())
        for name in ("w.bin", "a.bin"):
            (models[-1].parent / name).write_bytes(bytes(64))
    for folder in (tmp_path, tmp_path / "model"):
        for name in ("w.bin", "b.bin", "secret.bin"):
            (folder / name).write_bytes(bytes(64))
    outcomes, calls = verify_traced(tmp_path, models)
    assert len(outcomes) == len(models) >= 40
    assert outcomes.count("done") >= 10
    outside = {str(path) for folder in (tmp_path, tmp_path / "model") for path in folder.glob("*.bin")}
    assert [call for call in calls if call.opened in outside] == []
    check_calls(tmp_path, calls)
