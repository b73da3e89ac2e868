"""sptile.torch.distributed: four processes of a gloo group give what one does, to the bit in every run; what is
wrong in one of them is an error in all, within the time-out of the group.

Tests that take `world` also run with two processes over NCCL, with a CUDA device each; elsewhere that is skipped."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import ROOT, command
from rank_group import Outcome, run_ranks, semaphore, step, values

torch = pytest.importorskip("torch", reason="sptile.torch.distributed is tested where PyTorch is installed")

import torch.distributed as dist  # noqa: E402

if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("this torch has no gloo", allow_module_level=True)

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.errors import printable  # noqa: E402
from sptile.torch.distributed import DistSparseMatrix, attention, sddmm  # noqa: E402
from sptile.torch.distributed import exchange as exchange_module  # noqa: E402
from sptile.torch.distributed import functions as functions_module  # noqa: E402
from sptile.torch.distributed import nn as dist_nn  # noqa: E402
from sptile.torch.distributed import peers as peers_module  # noqa: E402
from sptile.torch.distributed import step as step_module  # noqa: E402
from sptile.torch.handle import packed_key  # noqa: E402
from sptile.torch.distributed import whole as whole_module  # noqa: E402
from sptile.torch.distributed.wires import Collective  # noqa: E402
from sptile.torch.distributed.boundary import rows_from  # noqa: E402
from sptile.torch.distributed.crossing import Crossing  # noqa: E402
from sptile.torch.distributed.row_blocks import row_blocks  # noqa: E402
from sptile.torch.distributed.ranks import Ranks, rank_list  # noqa: E402

RANKS = 4
WIDTHS = (1, 64)
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


class World(NamedTuple):
    """Ranks that a test runs: their backend and number, and the folder of each partition."""

    backend: str
    size: int
    parts: dict[str, str]

    @property
    def odd(self) -> int:
        """The rank that makes mistakes."""
        return self.size // 2

    @property
    def others(self) -> list[int]:
        return [rank for rank in range(self.size) if rank != self.odd]

    def run(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> list[Outcome]:
        return run_ranks(work, *arguments, **{"size": self.size, "backend": self.backend, **options})


class Case(NamedTuple):
    """A matrix, how it is divided, and the type of its operands."""

    matrix: sp.csr_array
    arguments: tuple[str, ...]
    dtype: str
    field: str = "real"


def random_square(rows: int, dtype: str, symmetric: bool, seed: int, density: float = 0.06) -> sp.csr_array:
    """Some rows are empty; values in 0.1..1.1."""
    rng = np.random.default_rng(seed)
    dense = (rng.random((rows, rows)) < density) * rng.uniform(0.1, 1.1, (rows, rows))
    dense[rng.random(rows) < 0.1] = 0
    if symmetric:
        dense = np.triu(dense) + np.triu(dense, 1).T
    return sp.csr_array(dense.astype(dtype))


def blocks(rows: int, seed: int) -> sp.csr_array:
    """Four blocks that know nothing of each other."""
    quarter = [random_square(rows // 4, "float32", False, seed + i, 0.2) for i in range(4)]
    return sp.csr_array(sp.block_diag(quarter, format="csr"))


def cases(folder: Path, size: int = RANKS) -> dict[str, Case]:
    """FILE methods give the part of each row."""
    uneven, quarters, first = (folder / f"{name}-{size}" for name in ("uneven", "quarters", "first"))
    owners = [part for part in range(size) if part != 1]
    uneven.write_text("".join(f"{owners[i % len(owners)]}\n" for i in range(90)))  # part 1 owns nothing
    quarters.write_text("".join(f"{i * size // 120}\n" for i in range(120)))
    first.write_text(f"{size // 2}\n" * 90)
    return {
        "symmetric f32": Case(random_square(160, "float32", True, 1), ("--method", "metis"), "float32"),
        "unsymmetric f32": Case(random_square(150, "float32", False, 2), ("--method", "rows"), "float32"),
        "symmetric f64": Case(random_square(130, "float64", True, 3), ("--reorder", "degree"), "float64"),
        "unsymmetric f64": Case(random_square(140, "float64", False, 4), ("--method", "metis"), "float64"),
        "pattern": Case(
            sp.csr_array((random_square(110, "float32", True, 5) != 0).astype("float32")),
            ("--method", "rows"),
            "float32",
            "pattern",
        ),
        "a part without rows": Case(
            random_square(90, "float32", False, 6), ("--method", str(uneven)), "float32"
        ),
        "all in one part": Case(random_square(90, "float64", False, 7), ("--method", str(first)), "float64"),
        "no halo": Case(blocks(120, 8), ("--method", str(quarters)), "float32"),
        "band": Case(
            sp.csr_array(np.triu(np.tril(np.random.default_rng(10).uniform(0.1, 1.1, (120, 120)), 3), -2)),
            ("--method", "rows"),
            "float64",
        ),
        "all rows need others": Case(
            sp.csr_array(np.random.default_rng(9).uniform(0.1, 1.1, (80, 80)).astype("float32")),
            ("--method", "rows"),
            "float32",
        ),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("partitions")


@pytest.fixture(scope="module")
def matrices(folder: Path) -> dict[str, Case]:
    return cases(folder)


def partition(folder: Path, matrices: dict[str, Case], size: int) -> dict[str, str]:
    """The folder of each partition."""
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    made = {}
    for number, (name, case) in enumerate(matrices.items()):
        source, target = folder / f"{number}.mtx", folder / f"parts-{size}-{number}"
        scipy.io.mmwrite(source, case.matrix, field=case.field, symmetry="general", precision=17)
        wide = ["--dtype", "f64"] if case.dtype == "float64" else []
        typed = [program, "partition", source, "--parts", str(size), "-o", target, "-q"]
        subprocess.run([*typed, *wide, *case.arguments], check=True, capture_output=True)
        made[name] = str(target)
    return made


@pytest.fixture(scope="module")
def parts(folder: Path, matrices: dict[str, Case]) -> dict[str, str]:
    """The partitions for gloo."""
    return partition(folder, matrices, RANKS)


def missing_nccl() -> str:
    """Returns why nothing runs over NCCL, "" if it does."""
    if not dist.is_nccl_available():
        return "this torch has no NCCL"
    devices = torch.cuda.device_count()
    return "" if devices >= 2 else f"NCCL requires two CUDA devices, found {devices}"


@pytest.fixture(scope="module", params=["gloo", "nccl"])
def world(request: pytest.FixtureRequest, folder: Path) -> World:
    if request.param == "gloo":
        return World("gloo", RANKS, request.getfixturevalue("parts"))
    if why := missing_nccl():
        pytest.skip(why)
    return World("cpu:gloo,cuda:nccl", 2, partition(folder, cases(folder, 2), 2))


def operands(name: str, rows: int, n: int, dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    """x, and the gradient of the result, of all rows."""
    generator = torch.Generator().manual_seed(len(name) + 7 * n)
    draw = [torch.rand(rows, n, generator=generator, dtype=torch.float64) - 0.5 for _ in range(2)]
    return draw[0].to(getattr(torch, dtype)), draw[1].to(getattr(torch, dtype))


def numpy_of(**tensors: torch.Tensor) -> dict[str, np.ndarray]:
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


# ---- Products and gradients ----


def multiply(_rank: int, parts: dict[str, str], types: dict[str, str], wire: str = "auto") -> dict[str, Any]:
    """A x, its gradient and what was sent, for each partition and width."""
    found: dict[str, Any] = {}
    if wire == "peers":
        emulate_peers()
    for name, path in parts.items():
        step(f"product of {name}")
        a = DistSparseMatrix(path, wire=wire)
        if wire == "peers":
            assert a.wire == ("gloo" if name in ("no halo", "all in one part") else "peers")
        found[name] = {
            "rows": a.rows.cpu().numpy(),
            "symmetric": a.symmetric,
            "nnz": a.nnz,
            "interior": a.interior,
        }
        for n in WIDTHS:
            whole_x, whole_g = operands(name, a.shape[0], n, types[name])
            x = a.take(whole_x).requires_grad_()
            at_first = a.bytes_sent
            y = a @ x
            forward = a.bytes_sent - at_first
            y.backward(a.take(whole_g))
            assert x.grad is not None
            before = a.bytes_sent
            bound = a.bind(x)
            for again in (a @ x, a @ x.detach(), bound(), bound()):  # without the checks of the first product
                assert torch.equal(again, y)
            assert a.bytes_sent == before + 5 * forward
            one_call = a.wire == "peers" and y.numel() > 0
            assert (packed_key(x) in a._halves.repeated) == one_call
            found[name][n] = {
                **numpy_of(y=y, grad=x.grad),
                "forward": forward,
                "backward": before - at_first - forward,
            }
    return found


@pytest.fixture(scope="module")
def products(world: World, matrices: dict[str, Case]) -> list[dict[str, Any]]:
    """What each rank found."""
    types = {name: case.dtype for name, case in matrices.items()}
    return values(world.run(multiply, world.parts, types))


def whole(products: list[dict[str, Any]], name: str, n: int, what: str, shape: tuple[int, int]) -> np.ndarray:
    """The rows of all ranks in the order of the matrix; each is there once."""
    result = np.full(shape, np.nan)
    for of_rank in products:
        rows = of_rank[name]["rows"]
        assert np.isnan(result[rows]).all()
        result[rows] = of_rank[name][n][what]
    assert not np.isnan(result).any()
    return result


NAMES = (
    "symmetric f32",
    "unsymmetric f32",
    "symmetric f64",
    "unsymmetric f64",
    "pattern",
    "a part without rows",
    "all in one part",
    "no halo",
    "band",
    "all rows need others",
)


@pytest.mark.parametrize("n", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_products_and_gradients_are_those_of_one_process(
    name: str, n: int, products: list[dict[str, Any]], matrices: dict[str, Case]
) -> None:
    case = matrices[name]
    a = case.matrix.astype("float64")
    x, g = (one.double().numpy() for one in operands(name, a.shape[0], n, case.dtype))
    bound = TOLERANCE[case.dtype]
    np.testing.assert_allclose(whole(products, name, n, "y", x.shape), a @ x, rtol=bound, atol=bound)
    np.testing.assert_allclose(whole(products, name, n, "grad", x.shape), a.T @ g, rtol=bound, atol=bound)
    assert all(of_rank[name]["nnz"] == a.nnz for of_rank in products)
    symmetric = abs(a - a.T).max() == 0
    assert all(of_rank[name]["symmetric"] == symmetric for of_rank in products)


def test_cases_are_what_they_are_called(products: list[dict[str, Any]], world: World) -> None:
    assert set(NAMES) == set(world.parts)
    owned = {name: [len(of_rank[name]["rows"]) for of_rank in products] for name in NAMES}
    assert owned["a part without rows"][1] == 0
    assert owned["all in one part"] == [90 if rank == world.odd else 0 for rank in range(world.size)]
    sent = {name: sum(of_rank[name][1]["forward"] for of_rank in products) for name in NAMES}
    interior = {name: [of_rank[name]["interior"] for of_rank in products] for name in NAMES}
    for name in NAMES:
        alone = name == "no halo" or sum(rows > 0 for rows in owned[name]) == 1
        assert (sent[name] == 0) == alone == (interior[name] == owned[name]), name
    assert interior["all rows need others"] == [0] * world.size
    assert all(0 < few < rows for few, rows in zip(interior["band"], owned["band"], strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_bytes_sent_are_the_rows_that_are_needed(
    name: str, products: list[dict[str, Any]], world: World, matrices: dict[str, Case]
) -> None:
    about = json.loads(Path(world.parts[name], "partition.json").read_text())["parts"]
    size = np.dtype(matrices[name].dtype).itemsize
    for n in WIDTHS:
        for part, of_rank in zip(about, products, strict=True):
            found = of_rank[name]
            assert found[n]["forward"] == part["sent"] * n * size
            way_back = part["sent"] if found["symmetric"] else part["received"]
            assert found[n]["backward"] == way_back * n * size


def test_bits_repeat(
    products: list[dict[str, Any]], world: World, matrices: dict[str, Case]
) -> None:
    types = {name: case.dtype for name, case in matrices.items()}
    again = values(world.run(multiply, world.parts, types))
    for first, second in zip(products, again, strict=True):
        for name in NAMES:
            for n in WIDTHS:
                for what in ("y", "grad"):
                    assert first[name][n][what].tobytes() == second[name][n][what].tobytes(), (name, n, what)


def boundary_rows(_rank: int, parts: dict[str, str]) -> None:
    """The last rows have nonzeros in halo, the others none. A product that adds to all rows, as of a partition by an
    earlier version, gives the same result."""
    for name, path in parts.items():
        step(f"boundary rows of {name}")
        a = DistSparseMatrix(path, format="csr")
        x = torch.rand(a.owned, 5, dtype=a.dtype, device=a.device)
        for matrix in (a, a.unweighted(), a.gcn_norm()):
            has_halo = matrix.halo.pattern.crow.diff() > 0
            assert torch.equal(has_halo, torch.arange(a.owned, device=a.device) >= matrix.interior), name
            of_all_rows = matrix._with(matrix.local, matrix.halo, matrix.nnz)
            of_all_rows._set(matrix.local, matrix.halo, matrix._exchange, rows_from(matrix.halo, 0))
            assert of_all_rows.interior == 0
            torch.testing.assert_close(of_all_rows @ x, matrix @ x)


def test_only_boundary_rows_are_added_to(world: World) -> None:
    values(world.run(boundary_rows, world.parts))


def of_an_earlier_version(_rank: int, path: str) -> torch.Tensor:
    a = DistSparseMatrix(path)
    x = a.take(torch.arange(float(a.shape[0]))[:, None]).requires_grad_()
    has_halo = a.halo.pattern.crow.diff() > 0
    assert not torch.equal(has_halo, torch.arange(a.owned, device=a.device) >= a.interior)  # rows are not sorted
    y = a @ x
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    return a.collect(torch.cat([y.detach(), gradient], 1))


def test_a_partition_by_an_earlier_version(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    subprocess.run(["tar", "-xJf", ROOT / "tests/cli/partition/older_partition.tar.xz"], check=True, cwd=tmp_path)
    subprocess.run([program, "gen", "grid2d", "--side", "12", "-o", tmp_path / "grid.mtx", "-q"], check=True)
    grid = sp.csr_array(scipy.io.mmread(tmp_path / "grid.mtx"))
    expected = grid @ np.stack([np.arange(144.0), np.ones(144)], 1)
    for found in values(run_ranks(of_an_earlier_version, str(tmp_path / "older"))):
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-4)


# ---- Rows in the memory of other devices ----


def emulated_exchange(e: Any, _stream: None) -> int:
    """`sptile_exchange_rows` in host memory: the protocol of runtime/cuda/exchange/exchange_rows.cuh."""
    stopped = 2**64 - 1
    state = (ctypes.c_uint64 * 4).from_address(e.state)
    fault = ctypes.c_int32.from_address(e.fault)
    begun = 2 * state[0] + 1

    def meet(value: int) -> None:
        for i in range(e.peer_count):
            ctypes.c_uint64.from_address(e.peers[i].signal).value = value
        end = time.monotonic() + e.timeout_ns / 1e9
        for i in range(e.peer_count if value != stopped else 0):
            answer = ctypes.c_uint64.from_address(e.peers[i].answer)
            while answer.value < value and time.monotonic() < end:
                time.sleep(1e-4)
            if answer.value < value or answer.value == stopped:
                fault.value, state[2] = (-1 - i if answer.value == stopped else 1 + i), 1

    state[2] |= int(e.stop != 0)
    meet(stopped if state[2] else begun)
    if not state[2]:
        for peer in e.peers[: e.peer_count]:
            for i in range(peer.first, peer.last):
                row = i if e.rows is None else ctypes.c_int64.from_address(e.rows + 8 * i).value
                place = peer.rows + (i - peer.first) * e.row_bytes
                ctypes.memmove(place, e.source + row * e.stride_bytes, e.row_bytes)
    meet(stopped if state[2] else begun + 1)
    state[0] += 1
    return 0


def emulated_run(reference: Any, _stream: None) -> int:
    """`sptile_run_distributed` in host memory."""
    run = reference._obj
    status = emulated_exchange(run.exchange.contents, None)
    for plan, operands in ((run.local, run.local_operands), (run.boundary, run.boundary_operands)):
        status = status or (0 if plan is None else peers_module.c.lib.sptile_run(plan, operands, None, None))
    return status


def emulate_peers() -> None:
    """Makes host memory of the processes stand in for device memory, which test_torch_distributed_cuda.py uses."""
    peers_module.c.lib.sptile_exchange_rows = emulated_exchange
    step_module._run_distributed = emulated_run
    exchange_module._host_of = lambda _device: "emulated"
    peers_module.share = lambda storage: [
        one.hex() if isinstance(one, bytes) else one for one in storage._share_filename_cpu_()
    ]
    peers_module.open_shared = lambda described, _device: torch.UntypedStorage._new_shared_filename_cpu(
        bytes.fromhex(described[0]), bytes.fromhex(described[1]), described[2]
    )


def test_rows_in_the_memory_of_other_devices_give_the_same_bits(
    parts: dict[str, str], matrices: dict[str, Case]
) -> None:
    types = {name: case.dtype for name, case in matrices.items()}
    by_group, by_peers = (values(run_ranks(multiply, parts, types, wire)) for wire in ("group", "peers"))
    for first, second in zip(by_group, by_peers, strict=True):
        for name in NAMES:
            for n in WIDTHS:
                for what in ("y", "grad"):
                    assert first[name][n][what].tobytes() == second[name][n][what].tobytes(), (name, n, what)
                assert first[name][n]["backward"] == second[name][n]["backward"]


def peers_of_many_shapes(rank: int, path: str) -> None:
    emulate_peers()
    DistSparseMatrix.__init__.__kwdefaults__["wire"] = "peers"
    many_shapes(rank, path)
    a = DistSparseMatrix(path)
    assert a.wire == "peers"
    x = torch.rand(a.owned, 8, dtype=torch.float64)
    expected = DistSparseMatrix(path, wire="group").fetch(x[:, 3:5].contiguous())
    assert torch.equal(a.fetch(x[:, 3:5]), expected)  # rows with gaps
    assert torch.equal(a.fetch(x[0, 3].expand(a.owned, 2)), a.fetch(x[0, 3].repeat(a.owned, 2)))


def test_operands_of_many_shapes_in_the_memory_of_other_devices(parts: dict[str, str]) -> None:
    values(run_ranks(peers_of_many_shapes, parts["unsymmetric f64"]))


def peer_mistake(rank: int, path: str, kind: str) -> list[str]:
    """Rank 2 makes a mistake in a call that the ranks have compared before, while the others wait for its rows as
    devices do, without a look at notices."""
    emulate_peers()
    a = DistSparseMatrix(path, wire="peers")
    x = torch.ones(a.owned, 4)
    a @ x
    if rank != 2:
        a._exchange._notices._next_look = float("inf")  # type: ignore[union-attr]
    said = []
    wrong: Callable[[], Any] = lambda: a @ "x" if kind == "refused" else time.sleep(12)  # type: ignore[operator]
    for call in (wrong if rank == 2 else lambda: a @ x, lambda: a @ x, lambda: a @ x):
        try:
            call()
            said.append("nothing")
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    return said


def test_a_refused_operand_ends_exchanges_on_devices(parts: dict[str, str]) -> None:
    said = values(run_ranks(peer_mistake, parts["pattern"], "refused", group_seconds=60, ends=False))
    for rank, of_rank in enumerate(said):
        first, second = of_rank[:2]
        if rank == 2:
            assert first.startswith("ArgumentTypeError") and "an earlier call failed" in second
        else:
            assert first == "nothing" and second == f"UsageError: {LATE['no tensor']}"
            assert "an earlier call failed (rank 2 refused" in of_rank[2]


def test_a_rank_that_hangs_ends_exchanges_on_devices(parts: dict[str, str]) -> None:
    said = values(run_ranks(peer_mistake, parts["pattern"], "hangs", group_seconds=4, ends=False))
    assert said[2][0] == "nothing" and said[2][1].startswith(("IoError", "nothing"))
    for rank in (0, 1, 3):
        first, second, third = said[rank]
        assert first == "nothing" and second.startswith("IoError") and "rank" in second, second
        assert "an earlier call failed" in third


def refused_wire(_rank: int, path: str) -> list[str]:
    said = []
    for wire in ("peers", "nccl", ("group", "auto")[_rank % 2]):
        try:
            said.append(DistSparseMatrix(path, wire=wire).wire)
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    return said


def test_wires_that_are_refused(parts: dict[str, str]) -> None:
    for peers, unknown, differ in values(run_ranks(refused_wire, parts["pattern"])):
        assert peers.startswith("UnsupportedError: ") and "requires CUDA devices, got cpu" in peers
        assert unknown.startswith("UsageError: ")
        assert "wire must be one of 'auto', 'group', 'peers', got 'nccl'" in unknown
        assert differ == "UsageError: wire must be equal on all ranks, got ['group', 'auto', 'group', 'auto']"


# ---- What goes with them ----


def many_shapes(_rank: int, path: str) -> None:
    """Vectors, heads, strides, no columns; 16 bits; second derivatives; take and collect."""
    a = DistSparseMatrix(path)
    torch.manual_seed(1)
    whole_x = torch.rand(a.shape[0], 3, 4, dtype=torch.float64)
    x = a.take(whole_x)
    assert torch.equal(a.collect(x), whole_x)
    assert torch.equal(a.collect(x[:, 0, 0]), whole_x[:, 0, 0])
    heads = a @ x
    assert heads.shape == x.shape
    torch.testing.assert_close(heads[:, 1], a @ x[:, 1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(heads[:, 1, 2], a @ x[:, 1, 2], rtol=1e-12, atol=1e-12)
    assert (a @ x[:, 0, :0]).shape == (a.owned, 0)

    rows_of_others = a.fetch(x)
    everything = a.with_halo(x)
    assert torch.equal(everything[: a.owned], x) and torch.equal(everything[a.owned :], rows_of_others)
    own_number = a.take(torch.arange(a.shape[0], dtype=torch.float64))
    part = sptile.open_part(Path(path) / f"part-{a.rank:04d}.h5")
    assert a.fetch(own_number).tolist() == part.halo_ids.tolist()
    own_number.requires_grad_()
    a.fetch(own_number).sum().backward()
    assert own_number.grad is not None
    counts = np.bincount(part.send_rows, minlength=a.owned)
    assert own_number.grad.tolist() == counts.tolist()

    x = x[:, 0].clone().requires_grad_()
    g = a.take(torch.rand(a.shape[0], 4, dtype=torch.float64)).requires_grad_()
    (gradient,) = torch.autograd.grad(a @ x, x, g, create_graph=True)  # A^T g
    (second,) = torch.autograd.grad(gradient, g, torch.ones_like(x))
    torch.testing.assert_close(second, a @ torch.ones_like(x), rtol=1e-12, atol=1e-12)


def test_operands_of_many_shapes(world: World) -> None:
    values(world.run(many_shapes, world.parts["unsymmetric f64"]))


def default_device(_rank: int, path: str, wire: str = "auto") -> np.ndarray:
    """A product whose operands name their device, while new tensors without one have no memory."""
    if wire == "peers":
        emulate_peers()
    a = DistSparseMatrix(path, wire=wire)
    torch.set_default_device("meta")
    try:
        return a.collect(a @ torch.ones(a.owned, 3, device=a.device)).numpy()
    finally:
        torch.set_default_device(None)


def test_messages_are_in_host_memory_whatever_the_default_device(
    world: World, matrices: dict[str, Case]
) -> None:
    expected = matrices["symmetric f32"].matrix.sum(1)
    found = values(world.run(default_device, world.parts["symmetric f32"]))
    found += values(run_ranks(default_device, world.parts["symmetric f32"], "peers")) if world.backend == "gloo" else []
    for one in found:
        np.testing.assert_allclose(one, np.repeat(expected[:, None], 3, 1), rtol=1e-5)


def half_precision(_rank: int, path: str) -> list[torch.Tensor]:
    a = DistSparseMatrix(path)
    x = (torch.arange(a.shape[0] * 3) % 8).view(-1, 3) / 8
    return [a.collect(a @ a.take(x.to(dtype))).float() for dtype in (torch.bfloat16, torch.float16)]


def test_operands_of_16_bits(world: World, matrices: dict[str, Case]) -> None:
    matrix = matrices["pattern"].matrix
    x = (np.arange(matrix.shape[0] * 3) % 8).reshape(-1, 3) / 8
    for of_rank in values(world.run(half_precision, world.parts["pattern"])):
        for found, bound in zip(of_rank, (2e-2, 2e-3), strict=True):
            np.testing.assert_allclose(found.numpy(), matrix @ x, rtol=bound, atol=bound)


def entry_numbers(_rank: int, path: str) -> dict[str, Any]:
    """SDDMM, attention, gcn_norm and the layers, with gradients."""
    a = DistSparseMatrix(path)
    torch.manual_seed(5)
    whole_x = [torch.rand(a.shape[0], 6, dtype=torch.float64) for _ in range(3)]
    q, k, v = (a.take(one).requires_grad_() for one in whole_x)
    places = np.stack([a.joined.pattern.row().cpu().numpy(), a.joined.pattern.col.cpu().numpy()])
    dots = sddmm(a, q, k)
    out = attention(a, q, k, v)
    halved = attention(a, q, k, v, drop=lambda weights: weights / 2)
    torch.testing.assert_close(2 * halved, out)
    normal, bare = (a.gcn_norm(loops, dtype=torch.float64) for loops in (True, False))
    (out.square().sum() + dots.square().sum()).backward()
    assert q.grad is not None and k.grad is not None and v.grad is not None
    found: dict[str, Any] = numpy_of(
        out=a.collect(out.detach()),
        dq=a.collect(q.grad),
        dk=a.collect(k.grad),
        dv=a.collect(v.grad),
        dots=dots,
        norm=a.collect(normal @ q.detach()),
        bare_norm=a.collect(bare @ q.detach()),
        norm_nnz=torch.tensor(normal.nnz),
    )
    part = sptile.open_part(Path(path) / f"part-{a.rank:04d}.h5")
    columns = np.concatenate([part.old_ids, part.halo_ids])
    found["places"] = np.stack([part.old_ids[places[0]], columns[places[1]]])
    for kind in LAYERS:
        step(f"layer {kind}")
        layer = make_layer(kind, dist_nn).to(a.device)
        x = a.take(whole_x[0]).requires_grad_()
        y = layer(x, a)
        y.square().sum().backward()
        gradients = [p.grad for p in layer.parameters() if p.grad is not None]
        if gradients:
            a.add_up(gradients)
        assert x.grad is not None
        found[kind] = [*numpy_of(y=a.collect(y.detach()), x=a.collect(x.grad)).values()]
        found[kind] += [gradient.cpu().numpy() for gradient in gradients]
    return found


def in_two_blocks(_rank: int, path: str) -> bool:
    """Returns whether this rank has interior rows. Results and gradients of any order equal those without row blocks."""
    a, found = DistSparseMatrix(path), []
    two, by_blocks = row_blocks(a.joined, a.owned), functions_module._blocks
    torch.manual_seed(5)
    numbers = [a.take(torch.rand(a.shape[0], 6, dtype=torch.float64)) for _ in range(3)]
    for split in (by_blocks, lambda *_: None):
        functions_module._blocks = split
        q, k, v = (one.clone().requires_grad_() for one in numbers)
        dots, out = sddmm(a, q, k), attention(a, q, k, v)
        first = torch.autograd.grad(out.square().sum() + dots.square().sum(), (q, k, v))
        learned = torch.autograd.grad(sddmm(a, q, k).square().sum(), (q, k), create_graph=True)
        second = torch.autograd.grad(sum(one.square().sum() for one in learned), (q, k))
        found.append([dots, out, *first, *learned, *second])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)
    functions_module._blocks = by_blocks
    expected = dots.detach()
    del found, dots, out, learned, one, other
    gc.collect()
    gc.disable()
    for _ in range(2):
        (attention(a, q, k, v).sum() + attention(a, q, k, v, bias=q.new_zeros(a.joined.nnz)).sum()).backward()
    assert not any(isinstance(one, Crossing) for one in gc.get_objects())  # nor the tensors of its step
    gc.enable()
    with contextlib.suppress(sptile.Error):
        attention(a, q[:, :2], k, v)  # refused while rows are in flight
    torch.testing.assert_close(sddmm(a, q, k).detach(), expected)
    return two is not None


def calls_in_turn(_rank: int, path: str) -> int:
    """The number of times that the queue of a device is limited in 4 rounds of 7 products and a sum."""
    a, limited = DistSparseMatrix(path), []
    x = torch.ones(a.owned, 2, device=a.device)
    a @ x
    a.add_up([x[:1]])
    a._exchange._events = [object()]  # type: ignore[list-item]
    a._exchange._limit_queue = lambda: limited.append(1)  # type: ignore[method-assign]
    for _ in range(4):
        for _ in range(7):
            a @ x
        a.add_up([x[:1]])
    return len(limited)


def test_the_queue_is_limited_whatever_the_order_of_calls(world: World) -> None:
    """Every eighth call is limited, also if it is not an exchange of rows."""
    assert values(world.run(calls_in_turn, world.parts["pattern"])) == [4] * world.size


def compiled(_rank: int, path: str) -> None:
    """A compiled function breaks at products, and continues around them."""
    a = DistSparseMatrix(path)
    x = a.take(torch.rand(a.shape[0], 4, generator=torch.Generator().manual_seed(2)))
    bound = a.bind(x)

    def step(y: torch.Tensor) -> torch.Tensor:
        return (a @ (y * 2)).relu() + bound() - 1

    learned = x.clone().requires_grad_()
    expected, found = step(learned), torch.compile(step, backend="aot_eager")(learned)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(one.square().sum(), learned)[0] for one in (expected, found)]
    torch.testing.assert_close(*gradients)


def test_compiled_functions_continue_around_products(world: World) -> None:
    values(world.run(compiled, world.parts["unsymmetric f32"]))


def test_rows_that_need_no_others_are_computed_meanwhile(world: World) -> None:
    found = {name: values(world.run(in_two_blocks, world.parts[name])) for name in ("band", "unsymmetric f64")}
    assert all(found["band"])


LAYERS = ("GCN", "GCN wide", "GIN", "AGNN", "GAT")


def make_layer(kind: str, layers: Any) -> torch.nn.Module:
    """A layer of sptile.torch.nn, or of its distributed twin, with the same parameters."""
    torch.manual_seed(3)
    made: torch.nn.Module = {
        "GCN": lambda: layers.GCNConv(6, 3),
        "GCN wide": lambda: layers.GCNConv(6, 20),
        "GIN": lambda: layers.GINConv(torch.nn.Linear(6, 4), train_eps=True),
        "AGNN": lambda: layers.AGNNConv(),
        "GAT": lambda: layers.GATConv(6, 3, heads=2),
    }[kind]()
    return made.double()


@pytest.mark.parametrize("name", ["pattern", "symmetric f64", "unsymmetric f64"])
def test_entries_attention_and_layers(name: str, world: World, matrices: dict[str, Case]) -> None:
    found = values(world.run(entry_numbers, world.parts[name]))
    matrix = matrices[name].matrix.astype("float64")
    a = st.SparseMatrix.from_scipy(matrix)
    if name == "pattern":
        a = a.with_values(None)
    torch.manual_seed(5)
    q, k, v = (torch.rand(a.shape[0], 6, dtype=torch.float64).requires_grad_() for _ in range(3))
    plain_q = q.detach().clone()
    dots = st.sddmm(a, q, k)
    out = st.attention(a, q, k, v)
    (out.square().sum() + dots.square().sum()).backward()
    normal = a.gcn_norm(dtype=torch.float64)
    bare = a.gcn_norm(add_self_loops=False, dtype=torch.float64)
    expected = numpy_of(
        out=out,
        dq=q.grad,
        dk=k.grad,
        dv=v.grad,
        norm=normal @ plain_q,
        bare_norm=bare @ plain_q,
    )
    dense = np.zeros(matrix.shape)
    for of_rank in found:
        dense[tuple(of_rank["places"])] += of_rank["dots"]
        assert of_rank["norm_nnz"] == normal.nnz
        for what in expected:
            np.testing.assert_allclose(of_rank[what], expected[what], rtol=1e-9, atol=1e-11, err_msg=what)
    row, col = a.pattern.row().numpy(), a.pattern.col.numpy()
    np.testing.assert_allclose(dense[row, col], dots.detach().numpy(), rtol=1e-11, atol=1e-12)
    assert np.count_nonzero(dense) == a.nnz

    for kind in LAYERS:
        layer = make_layer(kind, st.nn)
        x = plain_q.clone().requires_grad_()
        y = layer(x, a)
        y.square().sum().backward()
        wanted = [y, x.grad, *(p.grad for p in layer.parameters() if p.grad is not None)]
        for of_rank in found:
            assert len(of_rank[kind]) == len(wanted)
            for one, other in zip(of_rank[kind], wanted, strict=True):
                np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-9, atol=1e-11, err_msg=kind)


# ---- The whole matrix on one rank, where that is faster ----


def never_slower(rank: int, path: str, seconds: dict[int, list[float]] | None) -> dict[str, Any]:
    """What a matrix is that may fall back. `seconds` of ranks, in parts and alone, stand in for measured ones."""
    if seconds is not None:
        given = iter(seconds.get(rank, [1.0]))

        def measured(run: Callable[[], Any], _device: torch.device) -> float:
            run()
            return next(given)

        whole_module.seconds = measured
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        a = DistSparseMatrix(path, never_slower=64)
    whole_x, whole_g = operands("never slower", a.shape[0], 64, str(a.dtype).removeprefix("torch."))
    x = a.take(whole_x).requires_grad_()
    y = a @ x
    if a.fell_back and rank == 0:
        assert torch.equal(a @ x, y)  # no other rank is waited for
    y.backward(a.take(whole_g))
    assert x.grad is not None
    torch.manual_seed(3)
    layers = [dist_nn.GCNConv(64, 3), dist_nn.GATConv(64, 3, heads=2)]
    through_layers = [a.collect(layer.to(a.device, a.dtype)(x, a).detach()) for layer in layers]
    added = torch.ones(2, device=a.device) * (rank + 1)
    a.add_up([added])
    return {
        **numpy_of(y=a.collect(y.detach()), grad=a.collect(x.grad), gcn=through_layers[0], gat=through_layers[1]),
        "fell_back": a.fell_back,
        "measured": a.measured,
        "rows": a.rows.tolist(),
        "said": [str(one.message) for one in said],
        "sent": a.bytes_sent,
        "added": added.tolist(),
        "repr": repr(a),
    }


def check_never_slower(found: list[dict[str, Any]], case: Case, fell_back: bool) -> None:
    matrix = case.matrix.astype("float64")
    x, g = (one.double().numpy() for one in operands("never slower", matrix.shape[0], 64, case.dtype))
    bound = TOLERANCE[case.dtype]
    for rank, of_rank in enumerate(found):
        assert of_rank["fell_back"] == fell_back and of_rank["measured"] == found[0]["measured"]
        np.testing.assert_allclose(of_rank["y"], matrix @ x, rtol=bound, atol=bound)
        np.testing.assert_allclose(of_rank["grad"], matrix.T @ g, rtol=bound, atol=bound)
        assert of_rank["added"] == [sum(range(len(found) + 1))] * 2
        if fell_back:
            assert of_rank["rows"] == (list(range(matrix.shape[0])) if rank == 0 else [])
            assert of_rank["sent"] == 0 and "all on rank 0" in of_rank["repr"]
            assert [("now owns all rows" in one) for one in of_rank["said"]] == ([True] if rank == 0 else [])
        else:
            assert not of_rank["said"] and "all on rank 0" not in of_rank["repr"]
            assert len(of_rank["rows"]) < matrix.shape[0]


@pytest.mark.parametrize("name", ["unsymmetric f64", "pattern"])
def test_a_partition_that_is_slower_is_not_used(
    name: str, world: World, matrices: dict[str, Case]
) -> None:
    """Nor if a single rank is slower in parts."""
    slow = {0: [1.0, 2.0], world.odd: [3.0]}
    given = values(world.run(never_slower, world.parts[name], slow))
    assert given[0]["measured"] == (3.0, 2.0)
    check_never_slower(given, matrices[name], True)
    kept = values(world.run(never_slower, world.parts[name], {0: [1.0, 2.0]}))
    assert kept[0]["measured"] == (1.0, 2.0)
    check_never_slower(kept, matrices[name], False)
    for what in ("gcn", "gat"):
        np.testing.assert_allclose(given[-1][what], kept[-1][what], rtol=1e-4, atol=1e-5)


def test_the_slower_way_is_found_by_measuring(world: World, matrices: dict[str, Case]) -> None:
    found = values(world.run(never_slower, world.parts["symmetric f32"], None))
    divided, alone = found[0]["measured"]
    assert 0 < alone and 0 < divided
    check_never_slower(found, matrices["symmetric f32"], alone < divided)


def no_room(rank: int, path: str) -> tuple[bool, float]:
    """Rank 0 cannot hold the whole matrix."""

    def refuse(*_arguments: Any) -> float:
        raise MemoryError

    if rank == 0:
        whole_module.whole_bundle = refuse
    a = DistSparseMatrix(path, never_slower=4)
    assert a.measured is not None
    return a.fell_back, a.measured.whole


def test_a_whole_matrix_without_room_stays_divided(world: World) -> None:
    for fell_back, alone in values(world.run(no_room, world.parts["symmetric f32"])):
        assert not fell_back and alone == float("inf")


def never_slower_each(rank: int, paths: list[str], columns: list[Any]) -> None:
    DistSparseMatrix(paths[rank % len(paths)], never_slower=columns[rank % len(columns)])


def test_what_never_slower_refuses(world: World, broken: Callable[..., str]) -> None:
    good = world.parts["unsymmetric f32"]
    columns = [4 if rank == world.odd else 8 for rank in range(world.size)]
    differ = world.run(never_slower_each, [good], columns)
    alike(differ, "UsageError", f"never_slower must be equal on all ranks, got {columns}")
    none = world.run(never_slower_each, [good], [8, 0])
    alike(none, "UsageError", f"rank 1 of {world.size}", 'never_slower must be a number of columns, "auto" or None, got 0')
    apart = broken(lambda folder: part_of(folder, world.odd).unlink())
    outcomes = world.run(never_slower_each, [apart] + [good] * (world.size - 1), [8])
    alike(outcomes, "MissingFileError", f"rank 0 of {world.size}", part_of(Path(), world.odd).name)


def whole_of(rank: int, path: str, other: str) -> None:
    """Rank 0 finds another partition when it reads all parts."""
    take = DistSparseMatrix._take_the_faster
    if rank == 0:
        DistSparseMatrix._take_the_faster = lambda self, _path, *rest: take(self, other, *rest)
    DistSparseMatrix(path, never_slower=4)


def test_a_whole_matrix_is_that_of_the_parts(world: World) -> None:
    good, other = world.parts["unsymmetric f32"], world.parts["symmetric f32"]
    words = (f"rank 0 of {world.size}", "belongs to a different partition from the part of process 0")
    alike(world.run(whole_of, good, other), "BadInputError", *words)


# ---- What is wrong ----


def alike(outcomes: list[Outcome], error: str, *words: str) -> None:
    """Every rank ended with this error, and with the same message, which has these words."""
    assert [one.raised for one in outcomes] == [error] * len(outcomes), [one[1:] for one in outcomes]
    assert len({one.message for one in outcomes}) == 1, [one.message for one in outcomes]
    for word in words:
        assert word in outcomes[0].message, outcomes[0].message


def open_each(rank: int, paths: list[str]) -> None:
    DistSparseMatrix(paths[rank % len(paths)])


def part_of(folder: Path, rank: int) -> Path:
    return folder / f"part-{rank:04d}.h5"


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 4096)


def flip_column(file: Path) -> None:
    """A column id far out of range, which the header knows nothing of."""
    bytes_of = bytearray(file.read_bytes())
    ids = np.frombuffer(sptile.open(file).csr().indices, np.int32)
    at = bytes_of.find(ids.tobytes())
    assert at > 0
    bytes_of[at : at + 4] = (2**30).to_bytes(4, "little")
    file.write_bytes(bytes_of)


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Each file, its size, and when it was written."""
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.fixture
def broken(world: World, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """A copy of a partition with something wrong in it; whoever finds that writes nothing."""
    target = tmp_path / "broken"
    made: dict[str, tuple[int, int]] = {}

    def make(damage: Callable[[Path], Any]) -> str:
        shutil.copytree(world.parts["unsymmetric f32"], target)
        for file in target.iterdir():
            file.chmod(0o644)
        damage(target)
        made.update(files_of(target))
        return str(target)

    yield make
    assert files_of(target) == made
    assert [one.name for one in tmp_path.iterdir()] == ["broken"]


def test_a_part_that_is_missing(broken: Callable[..., str], world: World) -> None:
    path = broken(lambda folder: part_of(folder, world.odd).unlink())
    who = f"rank {world.odd} of {world.size}"
    alike(world.run(open_each, [path]), "MissingFileError", who, part_of(Path(), world.odd).name)


def test_a_part_that_is_damaged(broken: Callable[..., str], world: World) -> None:
    path = broken(lambda folder: cut(folder / "part-0001.h5"))
    alike(world.run(open_each, [path]), "BadInputError", f"rank 1 of {world.size}", "truncated")


def test_a_part_with_a_column_that_there_is_not(broken: Callable[..., str], world: World) -> None:
    path = broken(lambda folder: flip_column(part_of(folder, world.size - 1)))
    alike(world.run(open_each, [path]), "BadInputError", f"rank {world.size - 1} of {world.size}")


def test_a_part_of_another_partition(broken: Callable[..., str], world: World) -> None:
    last = world.size - 1
    other = part_of(Path(world.parts["symmetric f32"]), last)
    path = broken(lambda folder: shutil.copy(other, part_of(folder, last)))
    alike(world.run(open_each, [path]), "BadInputError", f"rank {last} of {world.size}", "is part of partition")


def test_a_part_at_another_place(broken: Callable[..., str], world: World) -> None:
    path = broken(lambda folder: shutil.copy(folder / "part-0000.h5", folder / "part-0001.h5"))
    alike(world.run(open_each, [path]), "BadInputError", f"contains part 0 of {world.size}, expected 1")


def test_folders_of_different_partitions(world: World) -> None:
    names = ["symmetric f32" if rank >= world.odd else "unsymmetric f32" for rank in range(world.size)]
    paths = [world.parts[name] for name in names]
    alike(world.run(open_each, paths), "BadInputError", f"rank {world.odd}", "the same directory")


def test_another_number_of_ranks(world: World) -> None:
    fewer = world.run(open_each, [world.parts["symmetric f32"]], size=world.size - 1)
    alike(fewer, "UsageError", f"{world.size} parts", f"{world.size - 1} ranks")


@pytest.mark.parametrize(
    "text, error, words",
    [
        ("hello", "BadInputError", "not valid JSON"),
        ("[]", "BadInputError", "not the description of a partition"),
        ("[" * 200_000 + "]" * 200_000, "BadInputError", "nested too deeply"),
        ('{"schema_version": 1, "id": 5, "parts": []}', "BadInputError", "not the description of a partition"),
        ('{"schema_version": 9}', "UnsupportedError", "schema_version is 9"),
        (None, "MissingFileError", "partition.json"),
    ],
)
def test_a_description_that_is_none(
    text: str | None, error: str, words: str, broken: Callable[..., str], world: World
) -> None:
    def damage(folder: Path) -> None:
        (folder / "partition.json").unlink()
        if text is not None:
            (folder / "partition.json").write_text(text)

    alike(world.run(open_each, [broken(damage)], size=2), error, "rank 0 of 2", words)


def test_a_description_that_is_a_named_pipe(broken: Callable[..., str], world: World) -> None:
    """It is not waited for."""

    def damage(folder: Path) -> None:
        (folder / "partition.json").unlink()
        os.mkfifo(folder / "partition.json")

    alike(world.run(open_each, [broken(damage)], size=2), "BadInputError", "not a file that sptile writes")


def raised_in(number: int, raised: BaseException | dict[str, Any]) -> str:
    """What a rank sees when rank `number` raises that, or describes what it made so."""
    ranks = Ranks()

    def make() -> dict[str, Any]:
        if ranks.rank == number and isinstance(raised, BaseException):
            raise raised
        return raised if ranks.rank == number and isinstance(raised, dict) else {}

    try:
        ranks.attempt(make, lambda made: made)
    except sptile.Error as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


LONG_TEXTS = ["\N{GREEK SMALL LETTER ALPHA}" * 5000, "\U0001d11e" * 5000, "\x1b" * 5000, "\udcff" * 5000, "a" * 5000]


def raise_each(_rank: int) -> list[str]:
    errors: list[BaseException | dict[str, Any]] = [
        RecursionError("too deep"),
        MemoryError(),
        KeyError("key"),
        OSError(28, "No space left on device"),
        torch.cuda.OutOfMemoryError("CUDA out of memory"),
        {"text": "a" * 5000},
        {"text": object()},
        *(sptile.BadInputError(text) for text in LONG_TEXTS),
        *(ValueError(text) for text in LONG_TEXTS),
    ]
    return [raised_in(1, error) for error in errors] + [raised_in(1, {})]


def test_any_exception_of_one_rank_is_an_error_of_all(world: World) -> None:
    """With a status, and a text that is cut where it is too long; then the ranks still understand each other."""
    found = values(world.run(raise_each, size=2))
    assert found[0] == found[1]
    told = found[0]
    assert told[:5] == [
        "InternalError: rank 1 of 2: RecursionError: too deep",
        "IoError: rank 1 of 2: MemoryError",
        "InternalError: rank 1 of 2: KeyError: 'key'",
        "IoError: rank 1 of 2: OSError: [Errno 28] No space left on device",
        "DeviceError: rank 1 of 2: OutOfMemoryError: CUDA out of memory",
    ]
    assert told[5].startswith("InternalError: rank 1 of 2: a record of ")
    assert told[6].startswith("InternalError: rank 1 of 2: TypeError: ")
    for text, known, unknown in zip(LONG_TEXTS, told[7:12], told[12:17], strict=True):
        head, start = "BadInputError: rank 1 of 2: ", printable(text)[:200]
        assert known.startswith(head + start) and len(known) < 3200
        assert unknown.startswith(f"InternalError: rank 1 of 2: ValueError: {start}") and len(unknown) < 3200
    assert told[17:] == ["no error"]


def wrong_calls(rank: int, path: str, which: int) -> list[str]:
    """Calls in which one rank differs: what each raises. The matrix works all the same afterwards."""
    a = DistSparseMatrix(path)
    odd = rank == which
    x = torch.ones(a.owned, 4, device=a.device)
    calls: list[Callable[[], Any]] = [
        lambda: a @ (x.new_ones(a.owned, 8) if odd else x),
        lambda: a @ (x.bfloat16() if odd else x),
        lambda: a @ (x.new_ones(a.owned + 1, 4) if odd else x),
        lambda: a @ ("x" if odd else x),  # type: ignore[operator]
        lambda: a @ (x.long() if odd else x),
        lambda: a @ x.clone().requires_grad_(odd),
        lambda: a.fetch(x) if odd else a @ x,
        lambda: a.add_up([x.new_ones(3 if odd else 2)]),
        lambda: a.add_up([x.new_ones(2), x.new_ones(2, dtype=torch.float64) if odd else x.new_ones(2)]),
        lambda: a.add_up([] if odd else [x.new_ones(2)]),
        lambda: attention(a, x, x.clone(), x[:0] if odd else x),
        lambda: attention(a, x, x.clone(), "x" if odd else x),  # type: ignore[arg-type]
    ]
    said = []
    for call in calls:
        try:
            call()
            said.append("nothing")
        except sptile.UsageError as error:
            said.append(str(error))
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    expected = a.collect(a @ x)
    assert torch.equal(expected, a.collect(a @ x))
    return said


def test_ranks_that_do_not_do_the_same(world: World) -> None:
    said = values(world.run(wrong_calls, world.parts["pattern"], world.odd))
    odd, others = f"rank {world.odd}", rank_list(world.others)
    words = [
        (f"{others}: A @ x of 4 columns", f"{odd}: A @ x of 8 columns"),
        ("4 columns of torch.float32", "4 columns of torch.bfloat16"),
        (f"{odd} refused",),
        (f"{odd} refused",),
        (f"{odd} refused",),
        (f"{odd}: A @ x of 4 columns of torch.float32, which requires a gradient",),
        (f"{odd}: rows of others",),
        (f"{others}: add_up of 2 columns", f"{odd}: add_up of 3 columns"),
        (f"{odd} refused",),
        (f"{odd} refused",),
        (f"{odd} refused the operand of rows of others",),
        (f"{odd} refused the operand of rows of others",),
    ]
    own = {2: "must have shape [", 3: "got str", 4: "torch.int64", 8: "of one type", 9: "add_up requires"}
    own |= {10: "k and v must", 11: "k and v must"}
    for rank, of_rank in enumerate(said):
        for number, wanted in enumerate(words):
            if rank == world.odd and number in own:
                assert own[number] in of_rank[number]
            else:
                assert all(word in of_rank[number] for word in wanted), (number, of_rank[number])


def check_once(rank: int, path: str) -> list[str]:
    a = DistSparseMatrix(path)
    x = torch.ones(a.owned, 4, device=a.device)
    first = a @ x
    assert torch.equal(first, a @ x)
    said = []
    for check in ("never", None):
        try:
            DistSparseMatrix(path, check=check)  # type: ignore[arg-type]
        except sptile.UsageError as error:
            said.append(str(error))
    try:
        a @ x.new_ones(a.owned, 5 + rank)
    except sptile.UsageError as error:
        said.append(str(error))
    return said


def test_what_is_new_is_checked(world: World) -> None:
    for never, nothing, differs in values(world.run(check_once, world.parts["pattern"])):
        assert "got 'never'" in never and "got None" in nothing
        assert "rank 0: A @ x of 5 columns" in differs
        assert f"rank {world.size - 1}: A @ x of {world.size + 4} columns" in differs


def late_mistake(rank: int, path: str, kind: str, check: str) -> list[str]:
    """Rank 2 makes a mistake in a call that the ranks have compared before."""
    a = DistSparseMatrix(path, check=check)
    x = torch.ones(a.owned, 4)
    expected = a @ x
    odd = rank == 2
    wrong: Callable[[], Any] = {
        "width": lambda: a @ torch.ones(a.owned, 8),
        "call": lambda: a.fetch(x),
        "rows": lambda: a @ torch.ones(a.owned + 1, 4),
        "no tensor": lambda: a @ "x",  # type: ignore[operator]
        "collect": lambda: a.collect(x),
    }[kind]
    said = []
    begin = time.monotonic()
    for call in (wrong if odd else lambda: a @ x, lambda: a @ x):
        try:
            y = call()
            assert torch.equal(y, expected)
            said.append("nothing")
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    assert time.monotonic() - begin < 5
    return said


LATE = {
    "width": "rank 2: A @ x of 8 columns of torch.float32",
    "call": "rank 2: rows of others of 4 columns of torch.float32",
    "collect": "rank 2: collect of 4 columns of torch.float32",
    "rows": "rank 2 refused the operand of A @ x; see the error there",
    "no tensor": "rank 2 refused the operand of A @ x; see the error there",
}
REFUSED = {"rows": "UsageError: x must have shape", "no tensor": "ArgumentTypeError: x must be a torch.Tensor"}


@pytest.mark.parametrize("kind", LATE)
def test_a_mistake_in_a_call_that_is_not_new_ends_all_ranks(kind: str, parts: dict[str, str]) -> None:
    outcomes = run_ranks(late_mistake, parts["pattern"], kind, "first", group_seconds=60, ends=False)
    for rank, (first, second) in enumerate(values(outcomes)):
        assert REFUSED[kind] in first if rank == 2 and kind in REFUSED else LATE[kind] in first, first
        assert first.startswith(("UsageError", "ArgumentTypeError"))
        assert second.startswith("UsageError: an earlier call failed (") and "another process group" in second


@pytest.mark.parametrize("kind", LATE)
def test_every_call_is_checked_on_request(kind: str, parts: dict[str, str]) -> None:
    for rank, (first, second) in enumerate(values(run_ranks(late_mistake, parts["pattern"], kind, "every"))):
        assert REFUSED[kind] in first if rank == 2 and kind in REFUSED else LATE[kind] in first, first
        assert second == "nothing"


def without_messages(_rank: int, path: str) -> int:
    """Calls that were made before need no message: the number of messages of later ones."""
    a = DistSparseMatrix(path)
    x = torch.rand(a.owned, 4, requires_grad=True)

    def step() -> torch.Tensor:
        y = a.with_halo(torch.relu(a @ x)).sum()
        y.backward()
        a.synchronize()
        return y.detach()

    first, messages = step(), 0
    tell = Ranks._tell

    def counted(*arguments: Any) -> torch.Tensor:
        nonlocal messages
        messages += 1
        return tell(*arguments)

    Ranks._tell = counted  # type: ignore[method-assign]
    for _ in range(3):
        assert torch.equal(step(), first)
    return messages


def test_calls_that_are_not_new_need_no_message(parts: dict[str, str]) -> None:
    assert values(run_ranks(without_messages, parts["unsymmetric f32"])) == [0] * RANKS


def bound(_rank: int, path: str) -> list[str]:
    """A product that is repeated with the same buffers, and what is refused."""
    a = DistSparseMatrix(path)
    x = torch.rand(a.owned, 4, dtype=a.dtype, requires_grad=True)
    product, before = a.bind(x), a.bytes_sent
    for number in range(3):
        x.detach().fill_(number + 0.5)
        y = product()
        assert y is product.out and not y.requires_grad and torch.equal(y, a @ x.detach())
    assert a.bytes_sent == 7 * before > 0
    vector = a.bind(x.detach()[:, 0].clone())
    assert vector().shape == (a.owned,)
    said = []
    for refused, graph in ((x, True), (x.t().contiguous().t(), False), ("x", False)):
        try:
            a.bind(refused, graph=graph)  # type: ignore[arg-type]
        except sptile.Error as error:
            said.append(f"{type(error).__name__}: {error}")
    return said


def test_a_product_bound_to_buffers(parts: dict[str, str]) -> None:
    for rank, said in enumerate(values(run_ranks(bound, parts["unsymmetric f64"]))):
        assert "graph=True requires a CUDA device, got cpu" in said[0], rank
        assert said[1].startswith("UsageError: bind requires a contiguous operand, got strides (1, ")
        assert said[2] == "ArgumentTypeError: x must be a torch.Tensor, got str"


def fetch_twice(_rank: int, path: str) -> None:
    a = DistSparseMatrix(path)
    x = torch.rand(a.owned, 4, dtype=a.dtype)
    first = a.fetch(x)
    kept = first.clone()
    second = a.fetch(x + 1)
    assert torch.equal(first, kept) and torch.equal(second, first + 1)


def test_fetched_rows_are_not_overwritten(parts: dict[str, str]) -> None:
    values(run_ranks(fetch_twice, parts["symmetric f64"]))


def former_name(_rank: int, path: str) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        a = DistSparseMatrix(path, check="always")
        assert torch.equal(a @ torch.ones(a.owned, 1), a @ torch.ones(a.owned, 1))
    return [f"{one.category.__name__}: {one.message}: {Path(one.filename).name}" for one in said]


def test_the_former_name_of_every_is_deprecated(parts: dict[str, str]) -> None:
    for said in values(run_ranks(former_name, parts["pattern"])):
        assert said == ['DeprecationWarning: check="always" is now check="every": test_torch_distributed.py']


def test_no_process_group(parts: dict[str, str]) -> None:
    with pytest.raises(sptile.UsageError, match="init_process_group"):
        DistSparseMatrix(parts["pattern"])


def die(rank: int, path: str, dies: int) -> None:
    """One rank ends without a word after the first product."""
    a = DistSparseMatrix(path)
    x = torch.ones(a.owned, 4, device=a.device)
    a @ x
    if rank == dies:
        os._exit(3)
    for _ in range(1000):
        a @ x


@pytest.mark.parametrize("tcp", [False, True], ids=["file store", "tcp store"])
def test_a_rank_that_dies_is_named(tcp: bool, world: World) -> None:
    seconds = 600  # longer than run_ranks waits
    outcomes = world.run(die, world.parts["symmetric f32"], world.odd, tcp=tcp, group_seconds=seconds)
    assert outcomes[world.odd].exit == 3
    for rank in world.others:
        assert outcomes[rank].raised == "IoError", outcomes[rank]
        assert f"no response from rank {world.odd}" in outcomes[rank].message


def test_the_rank_with_the_store_dies(world: World) -> None:
    outcomes = world.run(die, world.parts["symmetric f32"], 0, tcp=True, group_seconds=600)
    assert outcomes[0].exit == 3
    for outcome in outcomes[1:]:
        assert outcome.raised == "IoError" and "rank 0" in outcome.message, outcome


def watch(rank: int) -> list[int]:
    """Ranks whose processes have exited, as soon as there are any."""
    ranks = Ranks()
    assert ranks.exited() == []
    if rank == 1:
        os._exit(3)
    end = time.monotonic() + 30
    while not (exited := ranks.exited()) and time.monotonic() < end:
        time.sleep(0.01)
    return exited


def test_processes_that_exit_are_seen() -> None:
    outcomes = run_ranks(watch, size=2, ends=False)
    assert outcomes[0].value == [1], outcomes
    assert outcomes[1].exit == 3


@pytest.mark.parametrize(("place", "aborts"), [("cuda", 1), ("cpu", 0)])
def test_a_stop_ends_exchanges_on_the_device(place: str, aborts: int) -> None:
    """Also without a group, or with a backend that cannot abort."""
    calls: list[str] = []

    class Ranks:
        backend: Any = SimpleNamespace(abort=lambda: calls.append("abort"))

        @property
        def group(self) -> Any:
            if self.backend is None:
                raise sptile.UsageError("the process group of the matrix was destroyed")
            return SimpleNamespace(_get_backend=lambda _device: self.backend)

    wire = Collective.__new__(Collective)
    wire.place, ranks = torch.device(place), Ranks()
    wire.ranks = ranks  # type: ignore[assignment]
    for backend in (ranks.backend, SimpleNamespace(), None):
        ranks.backend = backend
        wire.stop()
    assert len(calls) == aborts


def hang(rank: int, path: str, ended: Any) -> None:
    """Rank 1 multiplies only after the other ranks have given up."""
    a = DistSparseMatrix(path)
    if rank == 1:
        for _ in range(dist.get_world_size() - 1):
            ended.acquire()
    try:
        a @ torch.ones(a.owned, 4, device=a.device)
    finally:
        ended.release()


def test_a_rank_that_hangs_is_named_when_the_time_of_the_group_is_over(world: World) -> None:
    outcomes = world.run(hang, world.parts["symmetric f32"], semaphore(), group_seconds=4)
    assert outcomes[1].raised == "IoError"  # it comes too late
    for rank in range(world.size):
        if rank == 1:
            continue
        assert outcomes[rank].raised == "IoError" and "rank 1" in outcomes[rank].message, outcomes[rank]


def over_nccl_alone(_rank: int, path: str) -> torch.Tensor:
    a = DistSparseMatrix(path)
    return a.collect(a @ a.take(torch.ones(a.shape[0], 3)))


@pytest.mark.parametrize("world", ["nccl"], indirect=True)
def test_a_group_without_gloo(world: World, matrices: dict[str, Case]) -> None:
    """Messages in host memory then have a separate group."""
    name = "unsymmetric f32"
    wanted = matrices[name].matrix @ np.ones((matrices[name].matrix.shape[0], 3))
    for of_rank in values(world.run(over_nccl_alone, world.parts[name], backend="nccl")):
        np.testing.assert_allclose(of_rank.numpy(), wanted, rtol=2e-5, atol=2e-5)


# ---- The page about it ----


def test_the_program_of_the_page_runs(parts: dict[str, str], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "distributed.md").read_text()
    program = next(block for block in page.split("```python mpi\n")[1:] if "# products.py" in block)
    (tmp_path / "products.py").write_text(program.split("```")[0])
    (tmp_path / "parts").symlink_to(parts["symmetric f32"])
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
    done = subprocess.run(
        [*launcher, "products.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("torch.Size([160, 16])") == RANKS
    assert "DistSparseMatrix(160 x 160" in done.stdout


def use_after_the_group(_rank: int, path: str) -> str:
    a = DistSparseMatrix(path)
    size = dist.get_world_size()
    dist.destroy_process_group()
    try:
        a @ torch.ones(a.owned, 2, device=a.device)
    except sptile.UsageError as error:
        return str(error)
    finally:
        dist.init_process_group("gloo", init_method=f"file://{path}-again", rank=_rank, world_size=size)
    return "nothing"


def test_a_matrix_does_not_keep_its_group(world: World) -> None:
    """A process that keeps a group beyond its end aborts when it exits."""
    for said in values(world.run(use_after_the_group, world.parts["pattern"])):
        assert "was destroyed" in said
