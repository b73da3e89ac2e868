// What plan and run promise on a device: streams, graphs, refreshed values, errors.
#include <thread>

#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

namespace {

double skewed(std::int64_t r, std::int64_t) { return r % 40 == 3 ? 0.8 : 0.03; }

}  // namespace

TEST_CASE("cuda plan: a run can be captured in a graph and gives the same bits") {
  Random random(11);
  for (const DeviceKernel& row : runnable_kernels()) {
    CAPTURE(label(row));
    const std::int64_t n = columns_for(row, 64);
    const formats::Csr a = random_matrix(300, 1500, row.values, random, skewed);
    const Dense dense(a, n, types_of(row), random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto expected = run_on_device(formatted.matrix(), options_for(row, n), dense);
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, n));
    REQUIRE(plan);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes c(static_cast<std::size_t>(dense.c.view().bytes()));
    const Stream stream;
    Graph graph;
    require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    const Status status =
        runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}, stream.get());
    require(cudaStreamEndCapture(stream.get(), &graph.graph));
    REQUIRE(status);
    require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    for (int i = 0; i < 2; ++i) {
      require(cudaMemsetAsync(c.get(), 0xFF, expected.size(), stream.get()));
      require(cudaGraphLaunch(graph.executable, stream.get()));
      require(cudaStreamSynchronize(stream.get()));
      CHECK(same_results(row, c.to_host(), expected));
    }
  }
}

TEST_CASE("cuda plan: runs on two streams at once, each with a workspace") {
  Random random(12);
  for (const DeviceKernel& row : runnable_kernels()) {
    CAPTURE(label(row));
    const std::int64_t n = columns_for(row, 128);
    const formats::Csr a = random_matrix(400, cols_for(row, n, 3000), row.values, random, skewed);
    const Dense dense(a, n, types_of(row), random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel));
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, n));
    REQUIRE(plan);
    const auto bytes = static_cast<std::size_t>(dense.c.view().bytes());
    const std::size_t scratch = runtime::workspace_bytes(**plan);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes c[2] = {DeviceBytes(bytes), DeviceBytes(bytes)};
    const DeviceBytes work[2] = {DeviceBytes(scratch), DeviceBytes(scratch)};
    const Stream streams[2];
    for (int i = 0; i < 2; ++i) require(cudaMemset(work[i].get(), 0, scratch));
    require(cudaDeviceSynchronize());
    for (int repeat = 0; repeat < 5; ++repeat)
      for (int i = 0; i < 2; ++i)
        REQUIRE(runtime::run(
            **plan, runtime::SpmmOperands{b.get(), dense.ldb, c[i].get(), dense.ldc, 1, 0, work[i].get()},
            streams[i].get()));
    require(cudaDeviceSynchronize());
    if (scratch > 0)
      CHECK(runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c[0].get(), dense.ldc, 1, 0,
                                                       work[0].get(), scratch - 1})
                .error()
                .code == Errc::usage);
    CHECK(same_results(row, c[0].to_host(), c[1].to_host()));
    CHECK(same_results(row, c[0].to_host(), run_on_device(formatted.matrix(), options_for(row, n), dense)));
  }
}

TEST_CASE("cuda plan: threads run a plan of two streams while another one captures it") {
  Random random(18);
  const formats::Csr a = random_matrix(300, 1500, DType::f32, random, skewed);
  const Dense dense(a, 64, DType::f32, random);
  const Formatted formatted = format_matrix(a, "libra_spmm");
  for (const DeviceKernel& row : runnable_kernels()) {
    if (row.kernel != "cuda.libra_spmm.concurrent" || row.values != DType::f32) continue;
    CAPTURE(label(row));
    const auto expected = run_on_device(formatted.matrix(), options_for(row, 64), dense);
    const auto plan = runtime::plan_spmm(formatted.matrix(), options_for(row, 64));
    REQUIRE(plan);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes captured(expected.size()),
        c[2] = {DeviceBytes(expected.size()), DeviceBytes(expected.size())};
    const Stream capturing, streams[2];
    const auto run_on = [&](const DeviceBytes& to, cudaStream_t stream) {
      return runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, to.get(), dense.ldc}, stream)
          .has_value();
    };
    Graph graph;
    int good[2] = {};
    require(cudaStreamBeginCapture(capturing.get(), cudaStreamCaptureModeThreadLocal));
    // The side stream is in the capture from here on: the threads must not touch it.
    bool first = run_on(captured, capturing.get());
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        for (int repeat = 0; repeat < 50; ++repeat) good[i] += run_on(c[i], streams[i].get()) ? 1 : 0;
      });
    for (int repeat = 0; repeat < 20; ++repeat) first = run_on(captured, capturing.get()) && first;
    for (std::thread& thread : threads) thread.join();
    require(cudaStreamEndCapture(capturing.get(), &graph.graph));
    CHECK(first);
    require(cudaDeviceSynchronize());
    for (int i = 0; i < 2; ++i) {
      CHECK(good[i] == 50);
      CHECK(same_results(row, c[i].to_host(), expected));
    }
    require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    require(cudaGraphLaunch(graph.executable, capturing.get()));
    CHECK(run_on(c[0], streams[0].get()));  // the side stream is free again
    require(cudaDeviceSynchronize());
    CHECK(same_results(row, captured.to_host(), expected));
    CHECK(same_results(row, c[0].to_host(), expected));
  }
}

TEST_CASE("cuda plan: refreshed values, from host or device memory, give what a new plan gives") {
  Random random(13);
  for (const DeviceKernel& row : runnable_kernels()) {
    if (row.values == DType::none) continue;
    CAPTURE(label(row));
    const std::int64_t n = columns_for(row, 40);
    const formats::Csr a = random_matrix(150, 600, row.values, random, skewed);
    const Dense dense(a, n, types_of(row), random);
    const auto order = random_order(a.rows, random);
    const Formatted formatted = format_matrix(a, format_of(row.kernel), order);
    runtime::PlanOptions options = options_for(row, n);
    options.refreshable = true;
    const auto plan = runtime::plan_spmm(formatted.matrix(), options);
    REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
    const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
    const DeviceBytes c(static_cast<std::size_t>(dense.c.view().bytes()));
    for (const bool on_device : {false, true}) {
      formats::Csr fresh = formats::copy(a.view());
      fresh.values = random_values(a.nnz(), row.values, random);
      const DeviceBytes values(fresh.values.data(), static_cast<std::size_t>(fresh.values.view().bytes()));
      const Status status = runtime::refresh_values(
          **plan, on_device ? ArrayView(row.values, values.get(), a.nnz()) : fresh.values.view());
      REQUIRE_MESSAGE(status.has_value(), status.error().message);
      REQUIRE(runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}));
      require(cudaDeviceSynchronize());
      CHECK(same_results(row, c.to_host(),
                         run_on_device(format_matrix(fresh, format_of(row.kernel), order).matrix(),
                                       options_for(row, n), dense)));
    }
  }
}

TEST_CASE("cuda plan: the matrix is not needed any more once it is planned") {
  Random random(14);
  const formats::Csr a = random_matrix(80, 90, 0.1, DType::f32, random);
  const Dense dense(a, 32, DType::f32, random);
  std::shared_ptr<runtime::ProductPlan> plan;
  {
    Formatted formatted = format_matrix(a, "csr");
    plan = *runtime::plan_spmm(formatted.matrix(), {.n = 32, .device = runtime::Device::cuda});
    for (formats::Array& array : formatted.data.arrays)
      std::memset(array.data(), 0xFF, static_cast<std::size_t>(array.view().bytes()));
  }
  const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
  const DeviceBytes c(static_cast<std::size_t>(dense.c.view().bytes()));
  REQUIRE(runtime::run(*plan, runtime::SpmmOperands{b.get(), 32, c.get(), 32}));
  require(cudaDeviceSynchronize());
  CHECK(c.to_host() ==
        run_on_device(format_matrix(a, "csr").matrix(), {.n = 32, .device = runtime::Device::cuda}, dense));
}

TEST_CASE("cuda plan: a precision is a floor, and the plan says what it got") {
  Random random(15);
  const formats::Csr a = random_matrix(80, 90, 0.1, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  for (const auto wanted : {runtime::Precision::fp32, runtime::Precision::tf32, runtime::Precision::bf16}) {
    const auto plan =
        runtime::plan_spmm(csr.matrix(), {.n = 32, .device = runtime::Device::cuda, .precision = wanted});
    REQUIRE(plan);
    CHECK(runtime::precision_of(**plan) == runtime::Precision::fp32);
  }
}

TEST_CASE("cuda plan: errors say what is wrong and what is there") {
  Random random(16);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr"), tiles = format_matrix(a, "bittcf");
  const auto error = [&](const runtime::PlanMatrix& matrix, runtime::PlanOptions options) {
    options.device = runtime::Device::cuda;
    const auto plan = runtime::plan_spmm(matrix, options);
    REQUIRE(!plan);
    return plan.error();
  };
  const Error missing = error(csr.matrix(), {.n = 4, .device_ordinal = 99});
  CHECK(missing.code == Errc::device);
  CHECK(missing.message.find("no CUDA device 99") != std::string::npos);
  CHECK(error(csr.matrix(), {.n = 4, .kernel = "cuda.csr.slow"}).code == Errc::usage);
  CHECK(error(csr.matrix(), {.n = 4, .kernel = "cpu.csr.generic"}).code == Errc::usage);
  CHECK(error(csr.matrix(), {.n = 4, .dense = DType::f64}).code == Errc::unsupported);
  CHECK(error(csr.matrix(), {.n = 0}).code == Errc::usage);
  const auto room = runtime::cuda::DeviceBuffer::allocate(std::size_t{1} << 50, "the test");
  REQUIRE(!room);
  CHECK(room.error().code == Errc::device);
  CHECK(room.error().message.find("1125899906842624 bytes") != std::string::npos);
  CHECK(cudaGetLastError() == cudaSuccess);  // nothing is left over for the caller's next check

  const auto plan = runtime::plan_spmm(csr.matrix(), {.n = 4, .device = runtime::Device::cuda});
  REQUIRE(plan);
  const DeviceBytes memory(20 * 4 * sizeof(float));
  CHECK(runtime::run(**plan, runtime::SpmmOperands{nullptr, 4, memory.get(), 4}).error().code == Errc::usage);
  CHECK(runtime::run(**plan, runtime::SpmmOperands{memory.get(), 3, memory.get(), 4}).error().code ==
        Errc::usage);
  CHECK(runtime::refresh_values(**plan, a.values.view()).error().code == Errc::usage);
}

TEST_CASE("cuda plan: every kernel of the table has instances of its name") {
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (kernel.device != runtime::Device::cuda) continue;
    CAPTURE(kernel.name);
    CHECK_FALSE(runtime::instances_of(kernel).empty());
    for (const DeviceKernel& row : runtime::instances_of(kernel)) CHECK(row.kernel == kernel.name);
    CHECK(format_of(kernel.name) == kernel.format);
  }
}

TEST_CASE("cuda plan: plans are made by several threads at once") {
  Random random(17);
  const formats::Csr a = random_matrix(200, 200, 0.1, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  std::vector<std::thread> threads;
  std::vector<int> made(4);
  for (int& ok : made)
    threads.emplace_back([&] {
      ok = runtime::plan_spmm(csr.matrix(), {.n = 16, .device = runtime::Device::cuda}).has_value() ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  for (const int ok : made) CHECK(ok == 1);
}
