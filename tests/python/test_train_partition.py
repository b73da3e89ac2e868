"""tools/train --partition: four processes of torchrun reach what one reaches; what cannot be trained so is refused by
name."""

from __future__ import annotations

import json
import lzma
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, command

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402

if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("this torch has no gloo", allow_module_level=True)

sys.path.insert(0, str(ROOT / "tools" / "train"))

import train  # noqa: E402

CORA = ROOT.parent / "shared" / "gnn" / "cora"
PROCESSES = 4


def sptile(*arguments: Any) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    subprocess.run([program, *map(str, arguments), "-q"], check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("partitioned")


@pytest.fixture(scope="module")
def community(folder: Path) -> Path:
    """1200 nodes of 4 classes, as a whole, in 4 parts and in one."""
    typed = (
        "gen community --rows 1200 --edges 6000 --mix 0.3 --classes 4 --features 100 --noise 0.85 --shuffle"
    )
    sptile(*typed.split(), "--data-set", "-o", folder / "graph.mtx")
    for parts in (PROCESSES, 1):
        sptile("partition", folder / "graph.mtx", "--parts", parts, "-o", folder / f"parts-{parts}")
    return folder


@pytest.fixture(autouse=True)
def keep_settings() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    if dist.is_initialized():
        dist.destroy_process_group()


def several(*arguments: Any) -> dict[str, Any]:
    """What four processes say in JSON: once."""
    launcher = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(PROCESSES),
    ]
    done = subprocess.run(
        [*launcher, train.__file__, *map(str, arguments), "--threads", "1", "-q", "--json"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def single(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    typed = [*map(str, arguments), "--backend", "sptile", "--threads", "1", "-q", "--json"]
    assert train.main(typed) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def alike(several_runs: dict[str, Any], one: dict[str, Any]) -> None:
    """The same accuracy within 0.3 points, and the same losses but for rounding."""
    assert several_runs["processes"] == PROCESSES
    for key in ("nodes", "edges", "features", "classes"):
        assert several_runs[key] == one[key]
    for ours, theirs in zip(several_runs["runs"], one["runs"], strict=True):
        assert ours["seed"] == theirs["seed"]
        assert ours["test_accuracy"] == pytest.approx(theirs["test_accuracy"], abs=0.003)
        assert ours["losses"][:20] == pytest.approx(theirs["losses"][:20], rel=1e-3)
        for (_, loss, accuracy), (_, their_loss, their_accuracy) in zip(
            ours["validation"][:3], theirs["validation"][:3], strict=True
        ):
            assert loss == pytest.approx(their_loss, rel=1e-3)
            assert accuracy == pytest.approx(their_accuracy, abs=0.003)


@pytest.mark.parametrize("model", ["gcn", "gin", "agnn", "gat"])
def test_several_processes_learn_what_one_does(
    model: str, community: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = "1,2" if model == "gcn" else "1"
    common = [model, "--data", community, "--epochs", 60, "--seed", seeds]
    one = single(capsys, *common)
    found = several(*common, "--partition", community / f"parts-{PROCESSES}")
    assert found["test_accuracy"] > 0.85
    assert [run["peak_bytes"] for run in found["runs"]] == [[]] * len(found["runs"])  # of CUDA devices
    alike(found, one)


@pytest.mark.skipif(not CORA.is_dir(), reason=f"Cora is not in {CORA}")
def test_accuracy_on_cora(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = lzma.open(CORA / "graph.mtx.xz", "rt").read()
    (folder / "cora.mtx").write_text("%%" + text.lstrip("%"))
    sptile("partition", folder / "cora.mtx", "--parts", PROCESSES, "-o", folder / "cora-parts")
    common = ["gcn", "--data", CORA, "--seed", "0,1,2"]
    found = several(*common, "--partition", folder / "cora-parts")
    assert found["test_accuracy"] >= 0.805
    alike(found, single(capsys, *common))


# ---- One process, and what is wrong ----


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torchrun would start one process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "LOCAL_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }.items():
        monkeypatch.setenv(name, value)


def refused(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    """The exit code and the message."""
    code = train.main([*map(str, arguments), "--threads", "1", "-q"])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_one_part(alone: None, community: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["gcn", "--data", community, "--epochs", 5]
    arguments = [*common, "--partition", community / "parts-1", "--threads", 1, "-q", "--json"]
    assert train.main(list(map(str, arguments))) == 0
    found = json.loads(capsys.readouterr().out)
    dist.destroy_process_group() if dist.is_initialized() else None
    assert found["runs"][0]["losses"] == pytest.approx(single(capsys, *common)["runs"][0]["losses"], rel=1e-5)


def test_what_is_not_trained_so(alone: None, community: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--data", community, "--partition", community / "parts-1"]
    code, message = refused(capsys, "gcn", *common, "--backend", "torch")
    assert code == 4 and "got torch" in message
    code, message = refused(capsys, "gcn", *common, "--compare", "sptile,torch")
    assert code == 4 and "got sptile, torch" in message


def test_without_torchrun(
    community: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    code, message = refused(capsys, "gcn", "--data", community, "--partition", community / "parts-1")
    assert code == 2 and "torchrun --nproc-per-node" in message


def test_another_number_of_processes(
    alone: None, community: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = refused(capsys, "gcn", "--data", community, "--partition", community / "parts-4")
    assert code == 2 and "4 parts" in message and "1 ranks" in message


def test_no_partition(alone: None, community: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = refused(capsys, "gcn", "--data", community, "--partition", community / "nowhere")
    assert code == 5 and "partition.json" in message


ONE_WAY = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n2 1\n3 2\n"
LOOP = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n"
SMALL = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"


@pytest.mark.parametrize(
    "graph, words",
    [(ONE_WAY, "without their reverse edges"), (LOOP, "has 1 loops"), (SMALL, "1200 nodes, but the graph has 3")],
    ids=["one way", "a loop", "another graph"],
)
def test_graphs_that_do_not_fit(
    graph: str, words: str, alone: None, community: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "graph.mtx").write_text(graph)
    sptile("partition", tmp_path / "graph.mtx", "--parts", 1, "-o", tmp_path / "parts")
    code, message = refused(capsys, "gcn", "--data", community, "--partition", tmp_path / "parts")
    assert code == 3 and words in message
