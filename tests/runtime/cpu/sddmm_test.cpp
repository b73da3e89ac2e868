// Every SDDMM kernel for the CPU against the reference, and what the interface promises.
#include "runtime/plan/sddmm.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "formats/convert/packed_positions.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/sddmm.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/random_samples.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Kernel;
using runtime::PlanOptions;
using runtime::SddmmOperands;

namespace {

std::vector<Kernel> sddmm_kernels() {
  std::vector<Kernel> rows;
  for (const Kernel& kernel : runtime::kernels())
    if (kernel.op == &runtime::kSddmm && kernel.device == runtime::Device::cpu && available(kernel))
      rows.push_back(kernel);
  return rows;
}

std::shared_ptr<runtime::ProductPlan> planned(const runtime::PlanMatrix& matrix, const PlanOptions& options) {
  auto plan = runtime::plan_sddmm(matrix, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  return *plan;
}

std::vector<std::byte> run_once(const runtime::PlanMatrix& matrix, const PlanOptions& options,
                                const Samples& operands, double alpha = 1, double beta = 0,
                                bool scaled = false) {
  std::vector<std::byte> out = operands.out_bytes();
  REQUIRE(runtime::run(*planned(matrix, options), operands.with(out.data(), alpha, beta, scaled)));
  return out;
}

}  // namespace

TEST_CASE("sddmm: the same bits for any number of threads and from every format") {
  const test::AllThreads all_threads;
  Random random(5);
  const formats::Csr a = random_matrix(200, 4000, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 17 ? 1 : 0.01;  // one row that is cut
  });
  const Samples operands(a, 200, DType::f32, random);
  const auto order = random_order(a.rows, random);
  for (const Kernel& kernel : sddmm_kernels()) {
    CAPTURE(kernel.name);
    const Formatted formatted = format_matrix(a, kernel.format, order);
    const auto with = [&](int threads) {
      return run_once(formatted.matrix(), {.n = 200, .kernel = kernel.name, .threads = threads}, operands);
    };
    const std::vector<std::byte> one = with(1);
    for (const int threads : {2, 3, 8}) CHECK(with(threads) == one);

    const std::string csr_kernel = "cpu.csr.sddmm." + std::string(kernel.isa);
    const std::vector<std::byte> csr =
        run_once(format_matrix(a, "csr").matrix(), {.n = 200, .kernel = csr_kernel, .threads = 2}, operands);
    const auto packed = formats::packed_positions(formatted.data.view(), order);
    REQUIRE(packed);
    const auto position = packed->view().as<std::int64_t>();
    const auto* from = reinterpret_cast<const std::uint32_t*>(one.data());
    const auto* expected = reinterpret_cast<const std::uint32_t*>(csr.data());
    std::int64_t differing = 0;
    for (std::size_t k = 0; k < position.size(); ++k) differing += from[position[k]] != expected[k];
    CHECK(differing == 0);
  }
}

TEST_CASE("sddmm: a plan serves fewer features with the bits of a plan for them") {
  Random random(10);
  const formats::Csr a = random_matrix(100, 4000, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 17 ? 1 : 0.01;  // one row that is cut
  });
  constexpr std::int64_t kPlanned = 200;
  const Samples operands(a, kPlanned, DType::f32, random, 3);
  for (const Kernel& kernel : sddmm_kernels()) {
    const Formatted formatted = format_matrix(a, kernel.format, random_order(a.rows, random));
    const auto plan = planned(formatted.matrix(), {.n = kPlanned, .kernel = kernel.name, .threads = 2});
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, kPlanned - 1, kPlanned}) {
      CAPTURE(kernel.name);
      CAPTURE(n);
      std::vector<std::byte> out = operands.out_bytes();
      SddmmOperands fewer = operands.with(out.data(), -0.5, 2, true);
      fewer.n = n;
      REQUIRE(runtime::run(*plan, fewer));
      CHECK(out == run_once(formatted.matrix(), {.n = n, .kernel = kernel.name, .threads = 2}, operands, -0.5,
                            2, true));
    }
    SddmmOperands more = operands.with(nullptr);
    more.n = kPlanned + 1;
    CHECK(runtime::run(*plan, more).error().message ==
          "sddmm: n = 201, but the plan supports 1 to 200; plan for n = 201");
  }
}

TEST_CASE("sddmm: a matrix without entries needs no room for the result, one without rows no operands") {
  Random random(6);
  for (const Kernel& kernel : sddmm_kernels()) {
    CAPTURE(kernel.name);
    const formats::Csr empty = random_matrix(9, 5, 0, DType::f32, random);
    const Samples operands(empty, 4, DType::f32, random);
    const Formatted formatted = format_matrix(empty, kernel.format);
    CHECK(
        runtime::run(*planned(formatted.matrix(), {.n = 4, .kernel = kernel.name}), operands.with(nullptr)));
    const formats::Csr nothing = random_matrix(0, 0, 0, DType::f32, random);
    const Formatted none = format_matrix(nothing, kernel.format);
    CHECK(runtime::run(*planned(none.matrix(), {.n = 4, .kernel = kernel.name}),
                       SddmmOperands{.ldx = 4, .ldy = 4}));
  }
}

TEST_CASE("sddmm: bad operands and plans of the other operation are refused before anything runs") {
  Random random(8);
  const formats::Csr a = random_matrix(20, 30, 0.3, DType::f32, random);
  const Samples operands(a, 8, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  const auto plan = planned(formatted.matrix(), {.n = 8});
  std::vector<std::byte> out = operands.out_bytes();
  const SddmmOperands good = operands.with(out.data());
  const auto refused = [&](auto change) {
    SddmmOperands bad = good;
    change(bad);
    const Status status = runtime::run(*plan, bad);
    return !status && status.error().code == Errc::usage && out == operands.out_bytes();
  };
  CHECK(refused([](SddmmOperands& o) { o.x = nullptr; }));
  CHECK(refused([](SddmmOperands& o) { o.y = nullptr; }));
  CHECK(refused([](SddmmOperands& o) { o.out = nullptr; }));
  CHECK(refused([](SddmmOperands& o) { o.ldx = 7; }));
  CHECK(refused([](SddmmOperands& o) { o.ldy = 7; }));
  CHECK(refused([](SddmmOperands& o) { o.ldy = -8; }));
  CHECK(refused([](SddmmOperands& o) { o.ldx = std::int64_t{1} << 60; }));
  int stream = 0;
  CHECK(runtime::run(*plan, good, &stream).error().code == Errc::usage);
  CHECK(runtime::timed_run(*plan, operands.with(nullptr), 0, 1).error().code == Errc::usage);

  const auto product = runtime::plan_spmm(formatted.matrix(), {.n = 8});
  REQUIRE(product);
  CHECK(runtime::run(**product, good).error().message == "sddmm: the plan was made for spmm; plan sddmm");
  CHECK(runtime::run(*plan, runtime::SpmmOperands{operands.x.data(), 8, out.data(), 8}).error().message ==
        "spmm: the plan was made for sddmm; plan spmm");
  CHECK(runtime::plan_sddmm(formatted.matrix(), {.n = 0}).error().code == Errc::usage);
  CHECK(runtime::plan_sddmm(formatted.matrix(), {.n = 8, .dense = DType::i32}).error().code ==
        Errc::unsupported);
  CHECK(runtime::plan_sddmm(formatted.matrix(), {.n = 8, .kernel = "cpu.csr.generic"}).error().code ==
        Errc::usage);
}

TEST_CASE("sddmm: its result, given to a plan of SpMM, is the matrix that CSR makes of it") {
  Random random(9);
  const formats::Csr a = random_matrix(70, 90, 0.1, DType::f32, random);
  const Samples operands(a, 24, DType::f32, random);
  const Dense dense(a, 16, DType::f32, random);
  // By CSR: the sampled numbers are the values of the matrix.
  formats::Csr sampled = formats::copy(a.view());
  runtime::reference_sddmm(a.view(), {}, 24, DType::f32, operands.with(sampled.values.data(), 0.5));
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const Formatted formatted = format_matrix(a, converter.format, random_order(a.rows, random));
    const auto sample = planned(formatted.matrix(), {.n = 24});
    auto product = runtime::plan_spmm(formatted.matrix(), {.n = 16, .refreshable = true});
    REQUIRE(product);
    std::vector<float> values(static_cast<std::size_t>(a.nnz()));
    REQUIRE(runtime::run(*sample, operands.with(values.data(), 0.5)));
    REQUIRE(runtime::refresh_packed(**product, ArrayView(std::span<const float>(values))));
    std::vector<std::byte> c = dense.c_bytes();
    REQUIRE(runtime::run(**product, test::operands(dense, c.data())));
    const double error =
        runtime::relative_error(sampled.view(), 16, DType::f32, test::operands(dense, c.data()));
    CHECK(error <= 1e-5);
  }
}

TEST_CASE("sddmm: several threads run one plan at once") {
  const test::AllThreads all_threads;
  Random random(47);
  const formats::Csr a = random_matrix(400, 300, 0.1, DType::f32, random);
  const Samples samples(a, 40, DType::f32, random);
  for (const formats::Converter& converter : formats::converters()) {
    const Formatted formatted = format_matrix(a, converter.format);
    const auto plan = planned(formatted.matrix(), {.n = 40, .threads = 2});
    const std::vector<std::byte> expected = run_once(formatted.matrix(), {.n = 40, .threads = 1}, samples);
    std::vector<std::vector<std::byte>> results(4, samples.out_bytes());
    std::vector<std::thread> threads;
    for (auto& out : results)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i)
          if (!runtime::run(*plan, samples.with(out.data()))) out.clear();
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& out : results) CHECK(out == expected);
  }
}
