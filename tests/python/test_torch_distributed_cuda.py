"""sptile.torch.distributed on two CUDA devices: rows sent by NCCL and rows written into the memory of the other device
give the results of one process, and the same bits."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import command
from rank_group import run_ranks, values

torch = pytest.importorskip("torch", reason="sptile.torch.distributed is tested where PyTorch is installed")

import torch.distributed as dist  # noqa: E402

if torch.cuda.device_count() < 2 or not dist.is_nccl_available():
    pytest.skip("two CUDA devices and NCCL are required", allow_module_level=True)

import sptile  # noqa: E402
from sptile.torch.distributed import DistSparseMatrix, attention  # noqa: E402
from sptile.torch.distributed import nn as dist_nn  # noqa: E402

RANKS = 2
BACKENDS = "cpu:gloo,cuda:nccl"
WIDTHS = (1, 3, 64, 128)
TYPES = {"float32": 2e-5, "float64": 1e-12, "bfloat16": 2e-2}
SHORT = {"float32": "f32", "float64": "f64", "bfloat16": "pattern"}  # patterns multiply operands of all types


def matrix_of(symmetric: bool, pattern: bool = False, rows: int = 6000) -> sp.csr_array:
    """About 20 nonzeros a row, in 0.1 to 1.1, or 1 in a pattern."""
    rng = np.random.default_rng(rows + symmetric)
    a = sp.random_array((rows, rows), density=20 / rows, rng=rng, data_sampler=lambda size: rng.uniform(0.1, 1.1, size))
    whole = sp.csr_array(a + a.T if symmetric else a)
    return sp.csr_array(whole != 0, dtype=float) if pattern else whole


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    folder, made = tmp_path_factory.mktemp("partitions"), {}
    for symmetric in (False, True):
        for kind in SHORT.values():
            name = f"{'symmetric' if symmetric else 'unsymmetric'} {kind}"
            source, target = folder / f"{name}.mtx", folder / name
            pattern = kind == "pattern"
            field = "pattern" if pattern else "real"
            scipy.io.mmwrite(source, matrix_of(symmetric, pattern), field=field, symmetry="general", precision=17)
            words = [program, "partition", source, "--parts", str(RANKS), "--method", "rows", "-o", target, "-q"]
            subprocess.run(words + ([] if pattern else ["--dtype", kind]), check=True, capture_output=True)
            made[name] = str(target)
    return made


def on_two(work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Returns the results of work(rank, *arguments) on two devices."""
    return values(run_ranks(work, *arguments, size=RANKS, backend=BACKENDS))


def open_parts(path: str, wire: str, **options: Any) -> DistSparseMatrix:
    a = DistSparseMatrix(path, format="csr", wire=wire, **options)
    assert a.wire == {"group": "nccl"}.get(wire, wire) and a.needed > 0
    return a


def drawn(rows: int, n: int, dtype: str, seed: int) -> torch.Tensor:
    draw = torch.rand(rows, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (draw - 0.5).to(getattr(torch, dtype))


def operand(a: DistSparseMatrix, n: int, dtype: str, seed: int) -> torch.Tensor:
    """Rows of this rank of a random operand."""
    return a.take(drawn(a.shape[0], n, dtype, seed))


def multiply(_rank: int, path: str, wire: str, dtype: str) -> dict[int, list[np.ndarray]]:
    a = open_parts(path, wire)
    found = {}
    for n in WIDTHS:
        x = operand(a, n, dtype, n).requires_grad_()
        y = a @ x
        y.backward(operand(a, n, dtype, n + 1000))
        assert x.grad is not None
        sums = a.fetch(x).sum(0).expand(a.owned, n)
        found[n] = [a.collect(one.detach()).double().numpy() for one in (y, x.grad, sums)]
    return found


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_products_and_gradients_are_those_of_one_process(
    symmetric: bool, dtype: str, parts: dict[str, str]
) -> None:
    name = f"{'symmetric' if symmetric else 'unsymmetric'} {SHORT[dtype]}"
    by_wire = [on_two(multiply, parts[name], wire, dtype) for wire in ("group", "peers")]
    matrix, bound = matrix_of(symmetric, SHORT[dtype] == "pattern"), TYPES[dtype]
    for n in WIDTHS:
        x, g = (drawn(matrix.shape[0], n, dtype, seed).double().numpy() for seed in (n, n + 1000))
        for by_group, by_peers in zip(*by_wire, strict=True):
            for one, other in zip(by_group[n], by_peers[n], strict=True):
                assert one.tobytes() == other.tobytes()
            for found, expected in zip(by_peers[n], (matrix @ x, matrix.T @ g), strict=False):
                np.testing.assert_allclose(found, expected, rtol=bound, atol=bound * abs(expected).max())


def many_steps(rank: int, path: str) -> None:
    """Steps without synchronization, of several widths and directions, on ranks of different speed."""
    peers, group = (open_parts(path, wire) for wire in ("peers", "group"))
    rng, results = np.random.default_rng(5), []
    busy = torch.rand(2048, 2048, device=peers.device)
    for step in range(300):
        n = int(rng.choice(WIDTHS))
        x = operand(peers, n, "float32", step).requires_grad_()
        if rng.random() < 0.2 and step % RANKS == rank:
            for _ in range(20):
                busy = (busy @ busy).clamp(-1, 1)
        y = peers @ x
        (gradient,) = torch.autograd.grad(y.sum(), x)
        results.append((n, step, y.detach(), gradient))
    peers.synchronize()
    for n, step, y, gradient in results:
        x = operand(group, n, "float32", step).requires_grad_()
        expected = group @ x
        assert torch.equal(y, expected), step
        assert torch.equal(gradient, torch.autograd.grad(expected.sum(), x)[0]), step


def test_many_steps_without_synchronization(parts: dict[str, str]) -> None:
    on_two(many_steps, parts["unsymmetric f32"])


def two_matrices_and_streams(_rank: int, first: str, second: str) -> None:
    """Two matrices in turn, and steps of one matrix on two streams."""
    matrices = [open_parts(path, "peers") for path in (first, second)]
    expected = [open_parts(path, "group") for path in (first, second)]
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    results = []
    for step in range(60):
        x = operand(matrices[step % 2], 64, "float32", step)
        stream = streams[step // 2 % 2]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results.append((x, matrices[step % 2] @ x))
    torch.cuda.synchronize()
    for step, (x, y) in enumerate(results):
        assert torch.equal(y, expected[step % 2] @ x), step


def test_two_matrices_and_two_streams(parts: dict[str, str]) -> None:
    on_two(two_matrices_and_streams, parts["unsymmetric f32"], parts["symmetric f32"])


def captured(_rank: int, path: str) -> None:
    """A captured step, replayed with other numbers, between steps that are not captured."""
    peers, group = (open_parts(path, wire) for wire in ("peers", "group"))
    x = operand(peers, 64, "float32", 0)
    for _ in range(3):
        peers @ x
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = peers @ (peers @ x)
    for step in range(100):
        x.copy_(operand(peers, 64, "float32", step))
        graph.replay()
        expected = group @ (group @ x)
        assert torch.equal(y, expected), step
        if step % 7 == 0:
            assert torch.equal(peers @ x, group @ x), step


def test_steps_can_be_captured(parts: dict[str, str]) -> None:
    on_two(captured, parts["symmetric f32"])


def bound(_rank: int, path: str, wire: str) -> None:
    """A product with a graph, between others."""
    a, group = open_parts(path, wire), open_parts(path, "group")
    x = operand(a, 64, "float32", 0)
    product, before = a.bind(x, graph=True), a.bytes_sent
    for step in range(50):
        x.copy_(operand(a, 64, "float32", step))
        y = product()
        assert torch.equal(y, group @ x), step
        if step % 5 == 0:
            assert torch.equal(a @ x, y), step
    a.synchronize()
    assert a.bytes_sent == before * (1 + 50 + 10)


@pytest.mark.parametrize("wire", ["group", "peers"])
def test_a_product_bound_to_buffers_with_a_graph(wire: str, parts: dict[str, str]) -> None:
    on_two(bound, parts["unsymmetric f32"], wire)


def layers(_rank: int, path: str, wire: str) -> list[np.ndarray]:
    a = open_parts(path, wire)
    torch.manual_seed(3)
    x = operand(a, 16, "float32", 1).requires_grad_()
    found = []
    for layer in (dist_nn.GCNConv(16, 8), dist_nn.GATConv(16, 4, heads=2)):
        y = layer.to(a.device)(x, a)
        found += [y, *torch.autograd.grad(y.square().sum(), [x, *layer.parameters()], allow_unused=True)[:1]]
    found.append(attention(a, x, x, x))
    return [a.collect(one.detach()).numpy() for one in found]


def test_layers_are_those_of_nccl(parts: dict[str, str]) -> None:
    by_wire = [on_two(layers, parts["symmetric f32"], wire) for wire in ("group", "peers")]
    for by_group, by_peers in zip(*by_wire, strict=True):
        for one, other in zip(by_group, by_peers, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def mistake(rank: int, path: str, kind: str) -> tuple[list[str], float]:
    """Rank 1 makes a mistake in a call that is not new. What each rank raises, and the seconds that it takes. If
    "blocked", rank 0 waits for its device in a way that reads no notices."""
    a = open_parts(path, "peers")
    x = operand(a, 64, "float32", 0)
    a @ x
    a.synchronize()
    wrong: dict[str, Callable[[], Any]] = {
        "refused": lambda: a @ x[1:],
        "blocked": lambda: a @ x[1:],
        "width": lambda: a @ x[:, :8],
        "dies": lambda: os._exit(3),
    }
    wait = torch.cuda.synchronize if kind == "blocked" else a.synchronize
    said, begin = [], time.monotonic()
    for step in range(4):
        try:
            if rank == 1 and step == 0:
                wrong[kind]()
            a @ x
            wait()
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    return said, time.monotonic() - begin


@pytest.mark.parametrize("kind", ["refused", "blocked", "width", "dies"])
def test_a_mistake_ends_all_ranks(kind: str, parts: dict[str, str]) -> None:
    outcomes = run_ranks(
        mistake, parts["symmetric f32"], kind, size=RANKS, backend=BACKENDS, group_seconds=8, ends=False
    )
    said, seconds = outcomes[0].value
    assert seconds < 30
    words = {"width": "rank 1: A @ x of 8 columns", "dies": "rank 1"}.get(kind, "rank 1 refused the operand of A @ x")
    assert said[0].startswith("IoError" if kind == "dies" else "UsageError") and words in said[0], said
    if kind == "dies":
        assert outcomes[1].exit == 3
    else:
        assert outcomes[1].value[0][0].startswith("UsageError")


def chosen(_rank: int, path: str) -> tuple[str, str]:
    return DistSparseMatrix(path).wire, DistSparseMatrix(path, wire="group").wire


def small(_rank: int, path: str) -> tuple[bool, int]:
    expected = open_parts(path, "group")
    expected = expected.collect(expected @ operand(expected, 16, "float32", 3))
    a = DistSparseMatrix(path, format="csr", never_slower="auto")
    assert a.measured is not None and a.fell_back == (a.measured.whole < a.measured.divided)
    torch.testing.assert_close(a.collect(a @ operand(a, 16, "float32", 3)), expected)
    return a.fell_back, a.owned


def test_a_small_matrix_stays_on_one_device(parts: dict[str, str]) -> None:
    """A product of 6000 rows takes less time than an exchange."""
    found = on_two(small, parts["symmetric f32"])
    assert found == [(True, 6000), (True, 0)]


def test_the_faster_wire_is_chosen(parts: dict[str, str]) -> None:
    found = on_two(chosen, parts["symmetric f32"])
    assert found[0] == found[1]
    assert found[0][0] in ("nccl", "peers") and found[0][1] == "nccl"
