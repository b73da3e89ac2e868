"""sptile.torch on a CUDA device: streams, graphs, the caching allocator, tf32, formats, several devices."""

from __future__ import annotations

import gc

import pytest
import scipy.sparse

torch = pytest.importorskip("torch")

from torch_problems import close, error, matrix, needs_cuda, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

pytestmark = needs_cuda

F32 = {"device": "cuda", "dtype": torch.float32}


@pytest.fixture(autouse=True)
def exact_products():  # type: ignore[no-untyped-def]
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


def clustered(nodes: int = 4096) -> tuple[st.SparseMatrix, torch.Tensor]:
    """Large enough that formats are tried, with rows of every length."""
    full = torch.rand(nodes, nodes, device="cuda") < torch.linspace(0, 0.02, nodes, device="cuda")[:, None]
    full[7] = True  # a row that is divided
    return st.SparseMatrix.from_torch(full.float()).with_values(
        torch.rand(int(full.sum()), device="cuda")
    ), full


@pytest.mark.parametrize("allowed", [False, True])
def test_float32_follows_allow_tf32(allowed: bool) -> None:
    torch.backends.cuda.matmul.allow_tf32 = allowed
    a, _ = clustered()
    x = torch.randn(4096, 128, device="cuda")
    exact = a.to_dense().double() @ x.double()
    found = error(a @ x, exact)
    assert found < (2e-3 if allowed else 1e-6)
    torch.backends.cuda.matmul.allow_tf32 = not allowed
    assert error(a @ x, exact) < (1e-6 if allowed else 2e-3)


@pytest.mark.parametrize("format", ["auto", "csr", "bittcf", "bmat", "tall"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_every_format_gives_the_product_and_its_gradient(format: str, dtype: torch.dtype) -> None:
    a, full = matrix(500, 400, 0.1, device="cuda", dtype=dtype, format=format)
    for n in (16, 64, 128):
        x = random(400, n, device="cuda", dtype=dtype, learn=True)
        torch.backends.cuda.matmul.allow_tf32 = True  # some have nothing more exact
        out = a @ x
        assert error(out, full @ x.detach().double().cpu()) < 5e-3
        out.backward(torch.ones_like(out))
        assert error(x.grad, full.t() @ torch.ones(500, n).double()) < 1e-2


@pytest.mark.parametrize(
    "kernel",
    [
        "cuda.csr.rows",
        "cuda.bittcf.acc",
        "cuda.bittcf.acc_pipeline",
        "cuda.bittcf.acc_dtc_pipeline",
        "cuda.rs_tile.rsh",
        "cuda.bmat.bulk",
        "cuda.bmat.voltrix",
        "cuda.libra_spmm.streams",
        "cuda.hc_window.paper",
        "cuda.me_tcf.decoded",
    ],
)
def test_kernels_of_the_papers_are_named(kernel: str) -> None:
    torch.backends.cuda.matmul.allow_tf32 = True
    a, full = matrix(500, 400, 0.1, device="cuda", dtype=torch.float32, kernel=kernel)
    x = random(400, 64, device="cuda", dtype=torch.float32, learn=True)
    out = a @ x
    assert error(out, full @ x.detach().double().cpu()) < 5e-3
    out.backward(torch.ones_like(out))
    assert error(x.grad, full.t() @ torch.ones(500, 64).double()) < 1e-2
    used = [plan.kernel for handle in (a._handle, a.t()._handle) for plan in handle.plans.values()]
    assert used == [kernel, kernel]


def test_kernels_of_other_operations_are_named() -> None:
    torch.backends.cuda.matmul.allow_tf32 = True
    names = {"sddmm": "cuda.bittcf.sddmm", "spmm_update": "cuda.hc_window.update2"}
    a, full = matrix(500, 400, 0.1, device="cuda", dtype=torch.float32, kernel=names)
    x, y = random(500, 32, device="cuda", dtype=torch.float32), random(400, 32, device="cuda", dtype=torch.float32)
    row, col = a.places()
    expected = (x.double() @ y.double().t())[row, col]
    assert error(st.sddmm(a, x, y), expected) < 5e-3
    w = random(32, 16, device="cuda", dtype=torch.float32)
    assert error(st.spmm_update(a, y, w), full @ y.double().cpu() @ w.double().cpu()) < 5e-3
    plans = [plan for handle in (a._bare, a._handle) for plan in handle.plans.values()]
    assert {plan.kernel for plan in plans} == set(names.values())


@pytest.mark.parametrize(
    "kernel, message",
    [
        ("cuda.bittcf.acc", "available: .*cuda.bittcf.mma.*allow_tf32 = True"),
        ("cuda.bittcf.none", "no kernel cuda.bittcf.none for spmm of bittcf.*available: cuda.bittcf.mma"),
        ("none", "no kernel none for spmm of csr.*available: cuda.csr."),
        ("cpu.csr.generic", "no kernel cpu.csr.generic for spmm of csr.*available: cuda.csr."),
    ],
)
def test_kernel_that_does_not_fit_the_device_is_refused(kernel: str, message: str) -> None:
    a, _ = matrix(50, 40, 0.1, device="cuda", dtype=torch.float32, kernel=kernel)
    with pytest.raises(sptile.UsageError, match=message):
        a @ random(40, 16, device="cuda", dtype=torch.float32)


def test_formats_of_a_bundle_follow_to_the_device(tmp_path) -> None:  # type: ignore[no-untyped-def]
    source = scipy.sparse.random_array((500, 400), density=0.1, rng=1, dtype="float32", format="csr")
    bundle = sptile.convert(source, tmp_path / "a.h5", formats="csr,bittcf", reorder="degree")
    torch.backends.cuda.matmul.allow_tf32 = True
    full = torch.from_numpy(source.toarray()).double()
    for format in ("auto", "bittcf", "tall"):
        a = st.SparseMatrix.from_bundle(bundle, format=format).cuda()
        assert a._handle.stored is not None
        x = random(400, 64, device="cuda", dtype=torch.float32, learn=True)
        out = a @ x
        assert format in ("auto", *(plan.format for plan in a._handle.plans.values()))
        assert error(out, full @ x.detach().double().cpu()) < 5e-3
        out.backward(torch.ones_like(out))
        assert error(x.grad, full.t() @ torch.ones(500, 64).double()) < 1e-2


def test_streams_at_the_same_time() -> None:
    a, _ = clustered()
    operands = [torch.randn(4096, 64, device="cuda") for _ in range(4)]
    expected = [a @ x for x in operands]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in operands]
    results: list[list[torch.Tensor]] = [[] for _ in operands]
    for _ in range(20):
        for x, stream, out in zip(operands, streams, results, strict=True):
            with torch.cuda.stream(stream):
                out.append(a @ x)
    torch.cuda.synchronize()
    for out, right in zip(results, expected, strict=True):
        assert all(torch.equal(one, right) for one in out)


def test_attention_on_streams_at_the_same_time() -> None:
    a, _ = clustered()
    q = torch.randn(4096, 4, 32, device="cuda", requires_grad=True)
    g = torch.randn_like(q)

    def step() -> tuple[torch.Tensor, ...]:
        out = st.attention(a, q, q, q)
        return (out, *torch.autograd.grad(out, (q,), g))

    expected = step()
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(3)]
    results = []
    for _ in range(10):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(step())
    torch.cuda.synchronize()
    for out in results:
        assert all(torch.equal(one, right) for one, right in zip(out, expected, strict=True))


def layers() -> tuple[torch.nn.Module, st.SparseMatrix, torch.Tensor]:
    a, _ = clustered(2048)
    graph = a.with_values(None).gcn_norm()

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gcn = st.nn.GCNConv(32, 64)
            self.gat = st.nn.GATConv(64, 8, heads=8)
            self.agnn = st.nn.AGNNConv()
            self.sage = st.nn.SAGEConv(64, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.gcn(x, graph).relu()
            return self.sage(self.agnn(self.gat(x, a).relu(), a), a)

    torch.manual_seed(0)
    return Model().cuda(), a, torch.randn(2048, 32, device="cuda")


def test_a_whole_training_step_in_a_graph() -> None:
    model, _a, x = layers()
    target = torch.randn(2048, 16, device="cuda")
    start = {name: p.detach().clone() for name, p in model.named_parameters()}

    def step(optimizer: torch.optim.Optimizer) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    def reset() -> torch.optim.Optimizer:
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(start[name])
                p.grad = torch.zeros_like(p)
        return torch.optim.SGD(model.parameters(), lr=0.05)

    optimizer = reset()
    eager = [float(step(optimizer).detach()) for _ in range(6)]
    optimizer = reset()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(optimizer)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(optimizer)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(start[name])
    captured = []
    for _ in range(6):
        graph.replay()
        captured.append(float(loss.detach()))
    assert captured == pytest.approx(eager, rel=1e-5)


def test_graphs_and_eager_calls_do_not_share_a_workspace() -> None:
    a, _ = clustered()
    x = torch.randn(4096, 64, device="cuda")
    expected = a @ x
    graphs, outs = [], []
    for _ in range(2):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = a @ x
            out = a @ x + 0 * out
        graphs.append(graph)
        outs.append(out)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in graphs]
    eager = []
    for _ in range(20):
        for graph, stream in zip(graphs, streams, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
        eager.append(a @ x)
    torch.cuda.synchronize()
    assert all(torch.equal(one, expected) for one in (*outs, *eager))


def test_streams_do_not_share_a_workspace() -> None:
    a, _ = clustered()
    x = torch.randn(4096, 64, device="cuda")
    expected = a @ x
    torch.cuda.synchronize()
    outs, streams = [], [torch.cuda.Stream() for _ in range(3)]
    for _ in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                outs.append(a @ x)
        outs.append(a @ x)
    torch.cuda.synchronize()
    assert all(torch.equal(out, expected) for out in outs)
    (plan,) = a._handle.plans.values()
    own = [memory is None for _, memory in plan._workspaces.values()]
    assert own == [True] + [plan.info.workspace_bytes == 0] * 3


def test_planning_while_a_graph_is_captured_is_refused() -> None:
    a, _ = matrix(50, 50, 0.2, **F32)
    x = torch.randn(50, 8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(sptile.UsageError, match="CUDA graph capture"), torch.cuda.graph(graph):
        a @ x
    torch.cuda.synchronize()
    assert close(a @ x, a.to_dense().double() @ x.double())


def test_memory_is_that_of_the_allocator_and_comes_back() -> None:
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        a, _ = clustered(1024)
        x = torch.randn(1024, 64, device="cuda", requires_grad=True)
        (a @ x).sum().backward()
        st.attention(a, x, x, x).sum().backward()
    del a, x, _
    gc.collect()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() <= before + (1 << 20)


def test_device_memory_of_the_library_comes_back() -> None:
    def used() -> int:
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        return total - free

    def work(times: int) -> None:
        for _ in range(times):
            a, _full = clustered(1024)
            a @ torch.randn(1024, 32, device="cuda")
            a.t() @ torch.randn(1024, 32, device="cuda")

    work(5)
    before = used()
    work(60)
    assert used() - before < 64 << 20


@pytest.mark.parametrize("layer", ["gat", "agnn"])
def test_attention_layers_take_no_memory_for_features_of_edges(layer: str) -> None:
    nodes, edges = 2000, 400_000
    pairs = torch.randint(0, nodes, (2, edges), device="cuda")
    a = st.SparseMatrix.from_edge_index(torch.unique(pairs.t(), dim=0).t(), num_nodes=nodes)
    conv = st.nn.GATConv(64, 8, heads=8).cuda() if layer == "gat" else st.nn.AGNNConv().cuda()
    x = torch.randn(nodes, 64, device="cuda", requires_grad=True)
    conv(x, a).sum().backward()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    conv(x, a).sum().backward()
    assert torch.cuda.max_memory_allocated() - before < a.nnz * 64 * 4 / 4


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_matrices_of_another_device_than_the_current_one() -> None:
    a, full = matrix(100, 80, 0.2, device="cuda:1", dtype=torch.float32)
    x = random(80, 16, device="cuda:1", dtype=torch.float32, learn=True)
    out = a @ x
    assert out.device == x.device and close(out, full @ x.detach().double().cpu())
    out.sum().backward()
    assert close(x.grad, full.t() @ torch.ones(100, 16).double())
    with pytest.raises(sptile.UsageError, match="cuda:1"):
        a @ x.to("cuda:0")
    assert torch.cuda.current_device() == 0


def test_no_call_waits_for_the_device() -> None:
    """Under torch's own check that nothing waits."""
    model, _a, x = layers()
    model(x).sum().backward()
    torch.cuda.set_sync_debug_mode("error")
    try:
        model(x).sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
