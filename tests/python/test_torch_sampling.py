"""Samples of neighbors, the loaders of mini-batches, and sorting in host memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from conftest import make_bundle, random_csr  # noqa: E402
from torch import Tensor  # noqa: E402
from torch_problems import close, needs_cuda, on_devices  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile import _sampling  # noqa: E402
from sptile.torch import edges as edges_module  # noqa: E402
from sptile.torch import pattern, sorting  # noqa: E402

NODES, EDGES = 400, 6000


def edge_list(nodes: int = NODES, edges: int = EDGES, seed: int = 0) -> Tensor:
    """Distinct edges in random order; targets have skewed degrees, and the last tenth of the nodes have no edges."""
    draw = torch.Generator().manual_seed(seed)
    linked = nodes - nodes // 10
    source = torch.randint(linked, (edges,), generator=draw)
    target = (torch.rand(edges, generator=draw) ** 2 * linked).long()
    edges = torch.unique(torch.stack([source, target]), dim=1)
    return edges[:, torch.randperm(edges.shape[1], generator=draw)]


@pytest.fixture(scope="module")
def edges() -> Tensor:
    return edge_list()


@pytest.fixture(scope="module")
def graph(edges: Tensor) -> st.SparseMatrix:
    return st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)


def edges_of(batch: st.Batch) -> tuple[Tensor, Tensor]:
    """Nodes of the graph at both ends of the edges of a batch: targets and sources."""
    row, col = batch.adj.places()
    return batch.n_id[row], batch.n_id[col]


def same(one: st.Batch, other: st.Batch) -> bool:
    return all(
        torch.equal(getattr(one, name), getattr(other, name)) for name in ("n_id", "e_id", "input_id")
    ) and all(torch.equal(a.to_dense(), b.to_dense()) for a, b in zip(one.adjs, other.adjs, strict=True))


# ---- Samples ----


@pytest.mark.parametrize("fan_outs", [[3], [5, 2], [-1, 4], [2, 3, 4], [1000, 1000]])
def test_samples_are_exact(graph: st.SparseMatrix, edges: Tensor, fan_outs: list[int]) -> None:
    degree = torch.bincount(edges[1], minlength=NODES)
    for batch in st.NeighborLoader(graph, fan_outs, batch_size=50, shuffle=True):
        target, source = edges_of(batch)
        assert torch.equal(torch.stack([source, target]), edges[:, batch.e_id])  # each edge is one of the graph
        assert batch.e_id.unique().numel() == batch.e_id.numel()
        assert batch.n_id.unique().numel() == batch.n_id.numel()
        counts, begin = torch.bincount(batch.adj.places()[0], minlength=batch.n_id.numel()), 0
        for fan_out, found in zip([*fan_outs, 0], batch.num_sampled_nodes, strict=True):
            nodes = batch.n_id[begin : begin + found]
            limit = degree[nodes] if fan_out == -1 else degree[nodes].clamp(max=fan_out)
            assert torch.equal(counts[begin : begin + found], limit)
            begin += found
        assert begin == batch.n_id.numel()


def test_matrices_of_the_hops_are_the_first_rows_of_the_sample(graph: st.SparseMatrix) -> None:
    batch = next(iter(st.NeighborLoader(graph, [4, 3, 2], batch_size=30)))
    dense, ends = batch.adj.to_dense(), np.cumsum(batch.num_sampled_nodes).tolist()
    assert [tuple(adj.shape) for adj in batch.adjs] == [(ends[2], ends[3]), (ends[1], ends[2]), (ends[0], ends[1])]
    for adj in batch.adjs:
        rows, cols = adj.shape
        assert torch.equal(adj.to_dense(), dense[:rows, :cols])
        assert not dense[:rows, cols:].any()
        assert torch.equal(adj.t().to_dense(), dense[:rows, :cols].t())


def test_neighbors_have_the_same_probability() -> None:
    degree, chosen, times = 30, 7, 3000
    star = torch.stack([torch.arange(1, degree + 1), torch.zeros(degree, dtype=torch.long)])
    graph = st.SparseMatrix.from_edge_index(star, num_nodes=degree + 1)
    counts = torch.zeros(degree)
    loader = st.NeighborLoader(graph, [chosen], torch.zeros(times, dtype=torch.long))
    for batch in loader:
        counts[batch.e_id] += 1
    share = chosen / degree
    assert counts.sum() == times * chosen
    spread = (counts - times * share).square().sum() / (times * share * (1 - share))
    assert spread * (degree - 1) / degree < 58.3  # 29 degrees of freedom, exceeded with probability 0.001


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_samples_do_not_depend_on_threads(graph: st.SparseMatrix, workers: int) -> None:
    def batches(num_workers: int, seed: int = 3) -> list[st.Batch]:
        loader = st.NeighborLoader(
            graph, [5, 5], batch_size=37, shuffle=True, seed=seed, num_workers=num_workers, prefetch_factor=3
        )
        return [*loader, *loader]

    alone = batches(0)
    assert len(alone) == 2 * -(-NODES // 37)
    assert all(same(one, other) for one, other in zip(alone, batches(workers), strict=True))
    assert not all(same(one, other) for one, other in zip(alone, batches(workers, seed=4), strict=True))


def test_epochs_have_other_samples_and_can_be_repeated(graph: st.SparseMatrix) -> None:
    loader = st.NeighborLoader(graph, [2], batch_size=NODES)
    first, second = next(iter(loader)), next(iter(loader))
    assert torch.equal(first.n_id[:NODES], second.n_id[:NODES]) and not torch.equal(first.e_id, second.e_id)
    loader.epoch = 0
    assert same(next(iter(loader)), first)


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_epoch_has_each_seed_once(graph: st.SparseMatrix, shuffle: bool) -> None:
    nodes = torch.arange(5, 300, 3)
    loader = st.NeighborLoader(graph, [2], nodes, batch_size=16, shuffle=shuffle)
    batches = list(loader)
    assert len(batches) == len(loader) == -(-nodes.numel() // 16)
    seeds = torch.cat([batch.n_id[: batch.batch_size] for batch in batches])
    assert torch.equal(seeds, nodes[torch.cat([batch.input_id for batch in batches])])
    assert torch.equal(seeds.sort().values, nodes) and torch.equal(seeds, nodes) is not shuffle
    assert len(list(st.NeighborLoader(graph, [2], nodes, batch_size=16, drop_last=True))) == nodes.numel() // 16


def test_seeds_without_neighbors_and_without_seeds(graph: st.SparseMatrix) -> None:
    alone = torch.tensor([NODES - 1, NODES - 2])
    batch = next(iter(st.NeighborLoader(graph, [3, 3], alone, batch_size=2, x=torch.ones(NODES, 4))))
    assert torch.equal(batch.n_id, alone) and batch.e_id.numel() == 0
    assert [tuple(adj.shape) for adj in batch.adjs] == [(2, 2), (2, 2)]
    assert torch.equal(batch.adjs[0] @ batch.x, torch.zeros(2, 4))
    assert list(st.NeighborLoader(graph, [3], torch.tensor([], dtype=torch.long))) == []
    assert list(st.NeighborLoader(graph, [3], torch.zeros(NODES, dtype=torch.bool))) == []


def test_repeated_seeds_have_separate_rows(graph: st.SparseMatrix, edges: Tensor) -> None:
    node = int(torch.bincount(edges[1]).argmax())
    batch = next(iter(st.NeighborLoader(graph, [4], torch.tensor([node, node]), batch_size=2)))
    assert batch.n_id[:2].tolist() == [node, node] and batch.adjs[0].degrees().flatten().tolist() == [4, 4]


def test_a_mask_selects_seeds(graph: st.SparseMatrix) -> None:
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[[7, 3]] = True
    assert next(iter(st.NeighborLoader(graph, [1], mask, batch_size=9))).n_id[:2].tolist() == [3, 7]


def test_values_features_and_labels_follow(edges: Tensor) -> None:
    weight, x, y = torch.rand(edges.shape[1]), torch.randn(NODES, 3), torch.arange(NODES)
    weighted = st.SparseMatrix.from_edge_index(edges, weight, NODES)
    for batch in st.NeighborLoader(weighted, [3, 3], batch_size=100, x=x, y=y):
        assert torch.equal(batch.x, x[batch.n_id]) and torch.equal(batch.y, batch.n_id[: batch.batch_size])
        assert torch.equal(batch.adj.values, weight[batch.e_id])
        assert torch.equal(batch.adjs[1].values, weight[batch.e_id][: batch.adjs[1].nnz])


def test_repeated_edges_count_as_one() -> None:
    twice = torch.tensor([[1, 1, 2, 2, 2], [0, 0, 0, 0, 1]])
    graph = st.SparseMatrix.from_edge_index(twice, num_nodes=3)
    batch = next(iter(st.NeighborLoader(graph, [-1], torch.tensor([0]))))
    assert batch.e_id.tolist() == [0, 1] and batch.adjs[0].values.tolist() == [2, 2]


def test_bundles_are_graphs(tmp_path: Any) -> None:
    matrix = random_csr(60, 60, 0.2, np.float32)
    bundle = make_bundle(matrix, tmp_path / "graph.h5")
    expected = list(st.NeighborLoader(st.SparseMatrix.from_scipy(matrix), [4], batch_size=20))
    for source in (str(bundle), sptile.open(bundle)):
        assert all(same(*pair) for pair in zip(expected, st.NeighborLoader(source, [4], batch_size=20), strict=True))


@pytest.mark.parametrize("layer", ["SAGEConv", "GraphConv"])
def test_a_network_on_full_neighborhoods_gives_its_output_on_the_graph(
    graph: st.SparseMatrix, layer: str
) -> None:
    torch.manual_seed(0)
    layers = torch.nn.ModuleList([getattr(st.nn, layer)(8, 8), getattr(st.nn, layer)(8, 4)])
    x = torch.randn(NODES, 8)
    full = layers[1](layers[0](x, graph).relu(), graph)
    wanted = torch.autograd.grad(full.square().sum(), layers.parameters())
    sums = [torch.zeros_like(parameter) for parameter in layers.parameters()]
    for batch in st.NeighborLoader(graph, [-1, -1], batch_size=64, shuffle=True, x=x):
        h = batch.x
        for one, adj in zip(layers, batch.adjs, strict=True):
            h = one((h, h[: adj.shape[0]]), adj)
            h = h.relu() if one is layers[0] else h
        close(h, full[batch.n_id[: batch.batch_size]])
        square = layers[1](layers[0](batch.x, batch.adj).relu(), batch.adj)[: batch.batch_size]
        close(square, h)
        for total, gradient in zip(sums, torch.autograd.grad(h.square().sum(), layers.parameters()), strict=True):
            total += gradient
    for total, gradient in zip(sums, wanted, strict=True):
        torch.testing.assert_close(total, gradient, rtol=1e-4, atol=1e-3)


# ---- Threads, devices ----


def test_errors_and_early_ends_leave_no_threads(graph: st.SparseMatrix) -> None:
    def running() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name.startswith("sptile-batches")]

    iterator = iter(st.NeighborLoader(graph, [3], num_workers=2))
    next(iterator)
    assert running()
    iterator.close()  # type: ignore[attr-defined]
    for thread in running():
        thread.join(10)
    assert not running()

    def failing() -> Iterator[Any]:
        yield SimpleNamespace(edge_index=torch.tensor([[9], [0]]), num_nodes=2)

    with pytest.raises(sptile.BadInputError, match="from 0 to 1"):
        next(st.loader(failing()))


@needs_cuda
@pytest.mark.parametrize("features", ["cpu", "cuda"])
def test_batches_on_a_device_equal_those_on_the_cpu(edges: Tensor, features: str) -> None:
    weighted = st.SparseMatrix.from_edge_index(edges, torch.rand(edges.shape[1]), NODES)
    x, y = torch.randn(NODES, 16), torch.arange(NODES)
    settings: Any = {"batch_size": 64, "shuffle": True, "num_workers": 2}
    here = st.NeighborLoader(weighted, [5, 5], x=x, y=y, **settings)
    there = st.NeighborLoader(weighted, [5, 5], x=x.to(features), y=y.to(features), device="cuda", **settings)
    for one, other in zip(here, there, strict=True):
        assert torch.equal(one.n_id, other.n_id.cpu()) and torch.equal(one.e_id, other.e_id.cpu())
        assert torch.equal(one.x, other.x.cpu()) and torch.equal(one.y, other.y.cpu())
        for a, b in zip(one.adjs, other.adjs, strict=True):
            close(a @ torch.ones(a.shape[1], 8), (b @ torch.ones(b.shape[1], 8, device="cuda")).cpu())


@needs_cuda
def test_batches_reach_a_device_without_waiting(graph: st.SparseMatrix) -> None:
    layers = torch.nn.ModuleList([st.nn.SAGEConv(16, 16), st.nn.SAGEConv(16, 4)]).cuda()
    loader = st.NeighborLoader(graph, [5, 5], batch_size=64, x=torch.randn(NODES, 16), device="cuda", num_workers=0)
    try:
        for number, batch in enumerate(loader):
            if number == 1:  # the first loads kernels
                torch.cuda.set_sync_debug_mode("error")
            h = batch.x
            for layer, adj in zip(layers, batch.adjs, strict=True):
                h = layer((h, h[: adj.shape[0]]), adj)
            h.sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


# ---- Batches of PyG ----


def test_batches_of_pyg_get_matrices(edges: Tensor) -> None:
    batches = [
        SimpleNamespace(edge_index=edges[:, start : start + 500], num_nodes=NODES, batch_size=start, n_id=None)
        for start in range(0, 2000, 500)
    ]
    x = torch.randn(NODES, 4)
    for prefetch in (0, 2):
        found = list(st.loader(iter(batches), prefetch=prefetch))
        assert found == batches  # the same objects in order
        for batch in found:
            expected = torch.zeros(NODES, 4).index_add(0, batch.edge_index[1], x[batch.edge_index[0]])
            close(batch.adj_t @ x, expected)
            del batch.adj_t


def test_weights_of_batches_are_values(edges: Tensor) -> None:
    weight = torch.rand(edges.shape[1])
    batch = st.from_batch(SimpleNamespace(edge_index=edges, edge_weight=weight, num_nodes=NODES))
    assert torch.equal(batch.adj_t.values, weight)


def test_data_of_pyg_moves_with_its_matrix(edges: Tensor) -> None:
    data = pytest.importorskip("torch_geometric.data")
    batch = st.from_batch(data.Data(edge_index=edges, num_nodes=NODES))
    assert isinstance(batch.to("cpu").adj_t, st.SparseMatrix)


def test_loader_of_pyg(edges: Tensor) -> None:
    """PyG samples with pyg-lib or torch-sparse, and refuses to without them."""
    data, typing = (pytest.importorskip(f"torch_geometric.{name}") for name in ("data", "typing"))
    if not (typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE):
        pytest.skip("neither pyg-lib nor torch-sparse is installed")
    from torch_geometric.loader import NeighborLoader

    whole = data.Data(x=torch.randn(NODES, 4), edge_index=edges, num_nodes=NODES)
    for batch in st.loader(NeighborLoader(whole, [4, 4], batch_size=50)):
        row, col = batch.adj_t.places()
        assert torch.equal(torch.stack([col, row]), batch.edge_index)


# ---- Refusals ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_neighbors": [3, 0]}, "1 or more, or -1"),
        ({"num_neighbors": [-2]}, "1 or more, or -1"),
        ({"num_neighbors": []}, "one number per hop"),
        ({"num_neighbors": 5}, "a list with one number per hop"),
        ({"num_neighbors": [2.5]}, "must be an integer"),
        ({"num_neighbors": [2**70]}, "64 bits"),
        ({"input_nodes": torch.tensor([0, NODES])}, f"ids from 0 to {NODES - 1}"),
        ({"input_nodes": torch.tensor([-1])}, f"ids from 0 to {NODES - 1}"),
        ({"input_nodes": torch.ones(3)}, "int32 or int64"),
        ({"input_nodes": torch.ones(3, dtype=torch.bool)}, "mask"),
        ({"input_nodes": [1, 2]}, "int32 or int64 tensor"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"num_workers": -1}, "num_workers must be 0 or more"),
        ({"prefetch_factor": 0}, "prefetch_factor must be 1 or more"),
        ({"x": torch.ones(3, 2)}, f"{NODES} rows"),
        ({"y": [1]}, "torch.Tensor"),
        ({"device": "meta"}, "CPU or a CUDA device"),
        ({"A": st.SparseMatrix.from_torch(torch.ones(2, 3))}, "square"),
        ({"A": torch.eye(3)}, "SparseMatrix, a Bundle or a path"),
        ({"A": st.SparseMatrix.from_torch(torch.eye(3)).with_values(torch.ones(3, requires_grad=True))}, "detach"),
    ],
)
def test_arguments_are_checked(graph: st.SparseMatrix, arguments: dict[str, Any], message: str) -> None:
    given = {"A": graph, "num_neighbors": [2], **arguments}
    with pytest.raises(sptile.Error, match=message):
        st.NeighborLoader(**given)


def test_a_batch_without_edges_is_refused() -> None:
    with pytest.raises(sptile.Error, match="edge_index"):
        st.from_batch(SimpleNamespace(num_nodes=3))
    with pytest.raises(sptile.Error, match="prefetch must be 0 or more"):
        st.loader([], prefetch=-1)


def test_a_damaged_graph_is_refused() -> None:
    damaged = _sampling.Graph(np.array([0, 5, 2], np.int64), np.array([0, 1], np.int32))
    with pytest.raises(sptile.BadInputError, match=r"row_ptr\[0\]"):
        damaged.sample(np.array([0], np.int64), np.array([1], np.int64), 1)


# ---- Sorting in host memory ----


def by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_library", lambda: None)


@pytest.mark.parametrize("ids", [torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 9, 0), (50, 3, 40), (300, 300, 5000), (4000, 4000, 3000)])
def test_the_library_sorts_as_torch_does(
    shape: tuple[int, int, int], ids: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, cols, count = shape
    draw = torch.Generator().manual_seed(1)
    row = torch.randint(rows, (count,), generator=draw, dtype=ids)
    col = torch.randint(cols, (count,), generator=draw, dtype=ids)
    assert sorting.sort_entries(row, col, rows, cols) is not None
    for ordered in (False, True):
        if ordered:
            place = torch.unique(row.long() * cols + col)
            row, col = (place // cols).to(ids), (place % cols).to(ids)
        found, order = pattern.pattern_of_entries(row, col, rows, cols)
        turned, source = found.transposed()
        with monkeypatch.context() as patch:
            by_torch(patch)
            expected, expected_order = pattern.pattern_of_entries(row, col, rows, cols)
            expected_turned, expected_source = expected.transposed()
        assert torch.equal(found.crow, expected.crow) and torch.equal(found.col, expected.col)
        assert torch.equal(turned.crow, expected_turned.crow) and torch.equal(turned.col, expected_turned.col)
        assert torch.equal(source, expected_source)
        for name in ("position", "source"):
            one, other = getattr(order, name), getattr(expected_order, name)
            assert (one is None) == (other is None) and (one is None or torch.equal(one, other))


def test_hypersparse_and_strided_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = torch.randint(20, (100, 2))
    assert sorting.sort_entries(pairs[:, 0], pairs[:, 1], 2**31 - 1, 20) is None  # torch sorts them
    found, _ = pattern.pattern_of_entries(pairs[:, 0], pairs[:, 1], 20, 20)
    by_torch(monkeypatch)
    expected, _ = pattern.pattern_of_entries(pairs[:, 0], pairs[:, 1], 20, 20)
    assert torch.equal(found.crow, expected.crow) and torch.equal(found.col, expected.col)


# ---- Fresh edges in layers ----


@pytest.mark.parametrize("ids", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(5, 7, 30, 3), (1, 1, 0, 4), (300, 200, 9000, 64)])
def test_rows_of_unsorted_entries_are_added_in_their_order(
    shape: tuple[int, int, int, int], dtype: torch.dtype, ids: torch.dtype
) -> None:
    rows, cols, count, n = shape
    row, col = torch.randint(rows, (count,), dtype=ids), torch.randint(cols, (count,), dtype=ids)
    x = torch.randn(cols, n, dtype=dtype)
    threads, results = torch.get_num_threads(), []
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            results.append(sorting.add_rows(row, col, rows, x))
    finally:
        torch.set_num_threads(threads)
    expected = x.new_zeros(rows, n)
    for i, j in zip(row.tolist(), col.tolist(), strict=True):
        expected[i] += x[j]
    assert all(torch.equal(result, expected) for result in results)
    assert count == 0 or sorting.add_rows(row + rows, col, rows, x) is None  # torch reports ids out of range


def test_sums_of_few_edges_have_derivatives_of_any_order(edges: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    few = torch.randint(6, (2, 15))
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    for by in ("library", "torch"):
        if by == "torch":
            by_torch(monkeypatch)
        assert torch.autograd.gradcheck(lambda x: edges_module.EdgeMatrix(few, 6, 6).sums(x), x)
        assert torch.autograd.gradgradcheck(lambda x: edges_module.EdgeMatrix(few, 6, 6).sums(x).square(), x)
        sums = edges_module.EdgeMatrix(few, 6, 6).sums(x)
        batch = torch.randn(4, *sums.shape, dtype=torch.float64)
        (gradients,) = torch.autograd.grad(sums, x, batch, is_grads_batched=True, retain_graph=True)
        for one, gradient in zip(batch, gradients, strict=True):
            torch.testing.assert_close(torch.autograd.grad(sums, x, one, retain_graph=True)[0], gradient)


@pytest.mark.parametrize("aggr", ["mean", "sum"])
@on_devices
def test_few_edges_and_many_give_the_same(
    device: str, aggr: str, edges: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, x = st.nn.SAGEConv(8, 8, aggr).to(device), torch.randn(NODES, 8, device=device, requires_grad=True)
    results = []
    for limit in (0, 10**9):
        monkeypatch.setattr(edges_module, "PAYS_AT", limit)
        out = layer(x, edges.to(device))
        results.append([out, *torch.autograd.grad(out.square().sum(), [x, *layer.parameters()])])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_edges_are_sorted_when_they_have_been_used_often(edges: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges_module, "PAYS_AT", 3 * edges.shape[1] * 8)
    matrix = edges_module.EdgeMatrix(edges, NODES, NODES)
    layer, x = st.nn.SAGEConv(8, 8), torch.randn(NODES, 8)
    for is_sorted in (False, False, True):
        layer(x, matrix)
        assert ("_product" in vars(matrix)) is is_sorted
    assert torch.equal(matrix.to_dense(), st.SparseMatrix.from_edge_index(edges, num_nodes=NODES).to_dense())


@pytest.mark.parametrize("bad", [-1, NODES])
@pytest.mark.parametrize("end", [0, 1])
def test_few_edges_with_ids_out_of_range_are_refused(edges: Tensor, bad: int, end: int) -> None:
    wrong = edges.clone()
    wrong[end, 5] = bad
    with pytest.raises(sptile.BadInputError, match=f"from 0 to {NODES - 1}, got {bad}"):
        st.nn.SAGEConv(8, 8)(torch.randn(NODES, 8), wrong)
