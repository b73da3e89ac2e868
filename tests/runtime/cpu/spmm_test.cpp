// Every kernel against the reference, and what the interface of plan and run promises.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <set>
#include <thread>

#include "formats/layout/registry.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/choice/prediction.hpp"
#include "runtime/cpu/isa.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/sddmm.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/random_problem.hpp"
#include "tests/skip.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Kernel;
using runtime::PlanOptions;

namespace {

std::vector<Kernel> cpu_kernels() {
  std::vector<Kernel> rows;
  for (const Kernel& kernel : runtime::kernels())
    if (kernel.op == &runtime::kSpmm && kernel.device == runtime::Device::cpu && available(kernel))
      rows.push_back(kernel);
  return rows;
}

/// Plans, runs and returns the bytes of C.
std::vector<std::byte> run_once(const runtime::PlanMatrix& matrix, const PlanOptions& options,
                                const Dense& dense, double alpha = 1, double beta = 0) {
  auto plan = runtime::plan_spmm(matrix, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  std::vector<std::byte> c = dense.c_bytes();
  const Status status = runtime::run(**plan, operands(dense, c.data(), alpha, beta));
  REQUIRE(status.has_value());
  return c;
}

/// Runs one kernel and measures it; also sees that nothing between the rows of C is touched.
void check_kernel(const Kernel& kernel, const formats::Csr& a, const Dense& dense,
                  const std::vector<std::int32_t>& order, double alpha, double beta) {
  CAPTURE(kernel.name);
  const Formatted formatted = format_matrix(a, kernel.format, order);
  const std::vector<std::byte> before = dense.c_bytes();
  PlanOptions options{.n = dense.n,
                      .dense = dense.types.operands,
                      .result = dense.types.result,
                      .kernel = kernel.name,
                      .threads = 2};
  std::vector<std::byte> c = run_once(formatted.matrix(), options, dense, alpha, beta);
  const double error = runtime::relative_error(a.view(), dense.n, dense.types,
                                               operands(dense, c.data(), alpha, beta), before.data());
  CHECK(error <= runtime::tolerated_error(a.view(), dense.types));
  const std::size_t size = size_of(dense.types.result);
  for (std::int64_t r = 0; r + 1 < a.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + dense.n) * size;
    const std::size_t gap_size = static_cast<std::size_t>(dense.ldc - dense.n) * size;
    CHECK(std::memcmp(c.data() + gap, before.data() + gap, gap_size) == 0);
  }
}

/// Reserves an address range of this many floats; pages come when touched.
class FarRows {
 public:
  explicit FarRows(std::int64_t floats) : bytes_(static_cast<std::size_t>(floats) * sizeof(float)) {
    memory_ =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;
  ~FarRows() {
    if (get() != nullptr) ::munmap(memory_, bytes_);
  }
  [[nodiscard]] float* get() const { return memory_ == MAP_FAILED ? nullptr : static_cast<float*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

void check_all_kernels(const formats::Csr& a, std::int64_t n, const runtime::DenseTypes& types,
                       Random& random, bool permuted = false, double alpha = 1, double beta = 0) {
  const Dense dense(a, n, types, random, permuted ? 5 : 0);
  const auto order = permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{};
  for (const Kernel& kernel : cpu_kernels()) check_kernel(kernel, a, dense, order, alpha, beta);
}

}  // namespace

TEST_CASE("spmm: any number of columns works, with padding between rows and in reordered matrices") {
  Random random(2);
  const formats::Csr a = random_matrix(45, 70, 0.15, DType::f32, random);
  for (const std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 127, 128, 129, 300, 1000, 2100}) {
    CAPTURE(n);
    check_all_kernels(a, n, DType::f32, random);
    check_all_kernels(a, n, DType::f32, random, true, 1.5, -1);
  }
}

TEST_CASE("spmm: windows with more tiles than the scratch holds keep their sums") {
  Random random(4);
  for (const DType values : {DType::f32, DType::f64, DType::f16, DType::none}) {
    const formats::Csr a = random_matrix(19, 3500, 0.4, values, random);
    const DType dense = values == DType::f64 ? DType::f64 : DType::f32;
    for (const std::int64_t n : {5, 33, 300}) check_all_kernels(a, n, dense, random, true, 1, 1);
  }
}

TEST_CASE("spmm: the pieces of a split rs_tile window add up in order") {
  Random random(16);
  const formats::Csr a = random_matrix(8, 4000, 0.6, DType::f32, random);
  Formatted whole = format_matrix(a, "rs_tile");
  const formats::RsTileView view = formats::as_rs_tile(whole.data.view());
  REQUIRE(view.residual_row_id.empty());
  // Two pieces, cut after 137 tiles, whatever the converter did.
  const auto tiles = std::ssize(view.bitmap);
  std::int64_t entries = 0;
  for (std::size_t t = 0; t < 137; ++t) entries += std::popcount(view.bitmap[t]);
  const auto array = [](auto... elements) {
    formats::Buffer<std::common_type_t<decltype(elements)...>> buffer(sizeof...(elements));
    std::int64_t i = 0;
    ((buffer[i++] = elements), ...);
    return formats::Array(std::move(buffer));
  };
  Formatted split = format_matrix(a, "rs_tile");
  split.data.arrays[0] = array(std::int32_t{0}, std::int32_t{0});
  split.data.arrays[1] = array(std::int32_t{0}, std::int32_t{137}, static_cast<std::int32_t>(tiles));
  split.data.arrays[2] = array(std::int64_t{0}, entries, a.nnz());
  split.data.arrays[3] = array(formats::kRsTileSplit, formats::kRsTileSplit);
  const Dense dense(a, 150, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  for (const int threads : {1, 2})
    CHECK(run_once(split.matrix(), {.n = 150, .threads = threads}, dense) ==
          run_once(csr.matrix(), {.n = 150, .kernel = csr_kernel_like_tiles()}, dense));
}

TEST_CASE(
    "spmm: every format with ascending columns gives the bits of csr, all the same bits for any threads") {
  const test::AllThreads all_threads;
  Random random(6);
  const auto skewed = [](std::int64_t r, std::int64_t) { return r == 5 ? 0.9 : 0.01; };
  const formats::Csr a = random_matrix(500, 1800, DType::f32, random, skewed);
  const Dense dense(a, 200, DType::f32, random);
  for (const Kernel& csr : cpu_kernels()) {
    if (csr.format != "csr") continue;
    const auto expected =
        run_once(format_matrix(a, "csr").matrix(), {.n = 200, .kernel = csr.name, .threads = 1}, dense);
    for (const Kernel& kernel : cpu_kernels()) {
      if (kernel.isa != csr.isa) continue;
      CAPTURE(kernel.name);
      const Formatted formatted = format_matrix(a, kernel.format);
      const auto with_threads = [&](int threads) {
        return run_once(formatted.matrix(), {.n = 200, .kernel = kernel.name, .threads = threads}, dense);
      };
      const bool ascending = formats::find_layout(kernel.format)->ascending_columns;
      const auto same = ascending ? expected : with_threads(1);
      for (const int threads : {1, 2, 3, 7}) CHECK(with_threads(threads) == same);
    }
  }
}

TEST_CASE("spmm: a plan serves fewer columns with the bits of a plan for them, and touches no others") {
  Random random(18);
  const formats::Csr a = random_matrix(300, 1800, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 5 ? 0.9 : r % 7 == 3 ? 0.0 : 0.01;  // one row that is cut by columns
  });
  constexpr std::int64_t kPlanned = 200;
  for (const DType type : {DType::f32, DType::f16})
    for (const Kernel& kernel : cpu_kernels()) {
      formats::Csr typed = formats::copy(a.view());
      typed.values = formats::convert_values(a.values.view(), type);
      const Dense dense(typed, kPlanned, type, random, 3);
      const Formatted formatted = format_matrix(typed, kernel.format, random_order(a.rows, random));
      PlanOptions options{.n = kPlanned, .dense = type, .kernel = kernel.name, .threads = 2};
      const auto plan = runtime::plan_spmm(formatted.matrix(), options);
      REQUIRE(plan);
      CHECK(runtime::least_n(**plan) == 1);
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, kPlanned - 1, kPlanned}) {
        CAPTURE(kernel.name);
        CAPTURE(n);
        std::vector<std::byte> c = dense.c_bytes(), expected = c;
        runtime::SpmmOperands fewer = operands(dense, c.data(), -0.5, 2);
        fewer.n = n;
        REQUIRE(runtime::run(**plan, fewer));
        options.n = n;
        const auto own = runtime::plan_spmm(formatted.matrix(), options);
        REQUIRE(runtime::run(**own, operands(dense, expected.data(), -0.5, 2)));
        CHECK(c == expected);
        CHECK(c != dense.c_bytes());
        std::vector<std::byte> timed = dense.c_bytes();
        fewer.c = timed.data();
        REQUIRE(runtime::timed_run(**plan, fewer, 0, 1));
        CHECK(timed == expected);
      }
    }
}

TEST_CASE(
    "spmm: more columns than planned, or fewer than one, are refused; rows need room for those that run") {
  Random random(19);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  const Dense dense(a, 8, DType::f32, random);
  const auto plan = runtime::plan_spmm(csr.matrix(), {.n = 8});
  REQUIRE(plan);
  std::vector<std::byte> c = dense.c_bytes();
  runtime::SpmmOperands some = operands(dense, c.data());
  const auto message = [&](std::int64_t n) {
    some.n = n;
    const Status status = runtime::run(**plan, some);
    REQUIRE(!status);
    CHECK(status.error().code == Errc::usage);
    return status.error().message;
  };
  CHECK(message(9) == "spmm: n = 9, but the plan supports 1 to 8; plan for n = 9");
  CHECK(message(-1) == "spmm: n = -1, but the plan supports 1 to 8");
  CHECK(c == dense.c_bytes());
  some.ldb = 5;
  CHECK(message(6) == "spmm: the leading dimension of B, 5, is less than its 6 columns");
  some.n = 5;
  CHECK(runtime::run(**plan, some));
}

TEST_CASE("spmm: several threads run one plan at once") {
  const test::AllThreads all_threads;
  Random random(7);
  const formats::Csr a = random_matrix(400, 300, 0.1, DType::f32, random);
  const Dense dense(a, 96, DType::f32, random);
  for (const formats::Converter& converter : formats::converters()) {
    const Formatted formatted = format_matrix(a, converter.format);
    auto plan = runtime::plan_spmm(formatted.matrix(), {.n = 96, .threads = 2});
    REQUIRE(plan);
    std::vector<std::vector<std::byte>> results(4, dense.c_bytes());
    std::vector<std::thread> threads;
    for (auto& c : results)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i)
          if (!runtime::run(**plan, operands(dense, c.data()))) c.clear();
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& c : results) CHECK(c == results[0]);
    CHECK(runtime::relative_error(a.view(), 96, DType::f32, operands(dense, results[0].data())) <=
          runtime::tolerated_error(a.view(), DType::f32));
  }
}

TEST_CASE("spmm: refreshing what cannot be refreshed is a usage error") {
  Random random(11);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const formats::Csr pattern = random_matrix(20, 20, 0.2, DType::none, random);
  const Formatted csr = format_matrix(a, "csr"), tiles = format_matrix(a, "bittcf");
  auto fixed = runtime::plan_spmm(csr.matrix(), {.n = 4});
  CHECK(runtime::refresh_values(**fixed, a.values.view()).error().code == Errc::usage);
  CHECK(runtime::plan_spmm(tiles.matrix(), {.n = 4, .refreshable = true}).error().code == Errc::usage);
  auto plan = runtime::plan_spmm(csr.matrix(), {.n = 4, .refreshable = true});
  REQUIRE(plan);
  const formats::Array doubles = random_values(a.nnz(), DType::f64, random);
  const formats::Array few = random_values(a.nnz() - 1, DType::f32, random);
  CHECK(runtime::refresh_values(**plan, doubles.view()).error().code == Errc::usage);
  CHECK(runtime::refresh_values(**plan, few.view()).error().code == Errc::usage);
  CHECK(runtime::refresh_values(**plan, {}).error().code == Errc::usage);
  const Formatted p = format_matrix(pattern, "csr");
  auto pattern_plan = runtime::plan_spmm(p.matrix(), {.n = 4, .refreshable = true});
  REQUIRE(pattern_plan);
  CHECK(runtime::refresh_values(**pattern_plan, a.values.view()).error().code == Errc::usage);
}

TEST_CASE("spmm: positions that are out of range or come twice are refused before values are refreshed") {
  Random random(16);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const Formatted tiles = format_matrix(a, "bittcf", random_order(a.rows, random));
  const auto positions = tiles.matrix().value_source.as<std::int64_t>();
  for (const std::int64_t wrong : {std::int64_t{-1}, a.nnz(), positions[1], std::int64_t{1} << 60}) {
    CAPTURE(wrong);
    std::vector<std::int64_t> changed(positions.begin(), positions.end());
    changed[0] = wrong;
    runtime::PlanMatrix matrix = tiles.matrix();
    matrix.value_source = ArrayView(std::span<const std::int64_t>(changed));
    CHECK(runtime::plan_spmm(matrix, {.n = 4, .refreshable = true}).error().code == Errc::bad_input);
    CHECK(runtime::plan_spmm(matrix, {.n = 4}));  // nothing reads them
  }
}

TEST_CASE("spmm: plans that make no sense or find no kernel say what would work") {
  Random random(12);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  const auto error = [&](const runtime::PlanMatrix& matrix, const PlanOptions& options) {
    const auto plan = runtime::plan_spmm(matrix, options);
    REQUIRE(!plan);
    return plan.error();
  };
  CHECK(error(csr.matrix(), {.n = 0}).code == Errc::usage);
  CHECK(error(csr.matrix(), {.n = -3}).code == Errc::usage);
  CHECK(error(csr.matrix(), {.n = 4, .threads = -1}).code == Errc::usage);
  if (runtime::cuda::device_count() == 0)
    CHECK(error(csr.matrix(), {.n = 4, .device = runtime::Device::cuda}).code ==
          (runtime::cuda::built() ? Errc::device : Errc::unsupported));
  CHECK(error(csr.matrix(), {.n = std::int64_t{1} << 60}).code == Errc::unsupported);
  CHECK(error({}, {.n = 4}).code == Errc::usage);

  const Error dense = error(csr.matrix(), {.n = 4, .dense = DType::f64});
  CHECK(dense.code == Errc::unsupported);
  CHECK(dense.message == "plan: a matrix of f32 values cannot be multiplied by dense f64; use f32");
  const auto refused = [&](DType type, DType result) {
    const Error e = error(csr.matrix(), {.n = 4, .dense = type, .result = result});
    CHECK(e.code == Errc::unsupported);
    CHECK(runtime::predict_product(runtime::kSpmm, std::vector{csr.matrix()},
                                   {.n = 4, .dense = type, .result = result})
              .error()
              .code == Errc::unsupported);
    return e.message;
  };
  CHECK(refused(DType::f32, DType::f64) == "plan: results of dense f32 operands have type f32, not f64");
  CHECK(refused(DType::f32, DType::f16) == "plan: results of dense f32 operands have type f32, not f16");
  CHECK(refused(DType::f16, DType::bf16) ==
        "plan: results of dense f16 operands have type f16 or f32, not bf16");
  CHECK(error(csr.matrix(), {.n = 4, .dense = DType::f16, .result = DType::f32}).message ==
        "plan: a matrix of f32 values cannot be multiplied by dense f16; use f32");
  CHECK(runtime::plan_spmm(csr.matrix(), {.n = 4, .result = DType::f32}));

  const Error kernel = error(csr.matrix(), {.n = 4, .kernel = "cpu.bittcf.generic"});
  CHECK(kernel.code == Errc::usage);
  CHECK(kernel.message.find("cpu.csr.generic") != std::string::npos);

  runtime::PlanMatrix wrong_order = csr.matrix();
  std::vector<std::int32_t> order = random_order(20, random);
  order[3] = order[4];
  wrong_order.row_order = order;
  CHECK(error(wrong_order, {.n = 4}).code == Errc::bad_input);
  order[3] = 20;
  CHECK(error(wrong_order, {.n = 4}).code == Errc::bad_input);
  wrong_order.row_order = wrong_order.row_order.first(19);
  CHECK(error(wrong_order, {.n = 4, .trusted = true}).code == Errc::bad_input);
}

TEST_CASE("spmm: a broken matrix is found when planned, in every format") {
  Random random(13);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const formats::Csr a = random_matrix(20, 20, 0.3, DType::f32, random);
    Formatted broken = format_matrix(a, converter.format);
    for (formats::Array& array : broken.data.arrays)
      if (array.dtype() == DType::i32 && array.size() > 0) array.as<std::int32_t>().back() = 1 << 30;
    const auto plan = runtime::plan_spmm(broken.matrix(), {.n = 4});
    REQUIRE(!plan);
    CHECK(plan.error().code == Errc::bad_input);
  }
}

TEST_CASE("spmm: operands that do not fit are usage errors") {
  Random random(14);
  const formats::Csr a = random_matrix(20, 20, 0.2, DType::f32, random);
  const Dense dense(a, 8, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  auto plan = runtime::plan_spmm(csr.matrix(), {.n = 8});
  REQUIRE(plan);
  std::vector<std::byte> c = dense.c_bytes();
  const auto code = [&](const runtime::SpmmOperands& o) { return runtime::run(**plan, o).error().code; };
  CHECK(code({nullptr, 8, c.data(), 8}) == Errc::usage);
  CHECK(code({dense.b.data(), 8, nullptr, 8}) == Errc::usage);
  CHECK(code({dense.b.data(), 7, c.data(), 8}) == Errc::usage);
  CHECK(code({dense.b.data(), 8, c.data(), 7}) == Errc::usage);
  CHECK(code({dense.b.data(), -8, c.data(), 8}) == Errc::usage);
  CHECK(code({dense.b.data(), std::int64_t{1} << 60, c.data(), 8}) == Errc::usage);
}

TEST_CASE("spmm: rows of B and C lie where 64-bit offsets put them") {
  // Two rows of B, 3 GiB apart in an address range that is reserved but never touched between them.
  Random random(15);
  const formats::Csr a = random_matrix(2, 2, 1, DType::f32, random);
  const std::int64_t far = std::int64_t{3} << 28;  // elements, so 3 GiB
  const FarRows b(far + 8), c(far + 8);
  if (b.get() == nullptr || c.get() == nullptr) return skip("6 GiB of address space");
  Dense near(a, 4, DType::f32, random);
  std::memcpy(b.get(), near.b.data(), 16);
  std::memcpy(b.get() + far, static_cast<const float*>(near.b.data()) + 4, 16);
  for (const Kernel& kernel : cpu_kernels()) {
    CAPTURE(kernel.name);
    const Formatted formatted = format_matrix(a, kernel.format);
    auto plan = runtime::plan_spmm(formatted.matrix(), {.n = 4, .kernel = kernel.name});
    REQUIRE(plan);
    REQUIRE(runtime::run(**plan, runtime::SpmmOperands{b.get(), far, c.get(), far}));
    const auto expected = run_once(formatted.matrix(), {.n = 4, .kernel = kernel.name}, near);
    CHECK(std::memcmp(c.get(), expected.data(), 16) == 0);
    CHECK(std::memcmp(c.get() + far, expected.data() + 16, 16) == 0);
  }
}

TEST_CASE("kernels: csr has one for each instruction set, a tile format one for the baseline") {
  for (const runtime::Operation* op : {&runtime::kSpmm, &runtime::kSddmm})
    for (const formats::Converter& converter : formats::converters()) {
      CAPTURE(converter.format);
      std::vector<std::string_view> found, expected;
      for (const Kernel& kernel : runtime::kernels())
        if (is_for(kernel, *op, converter.format, runtime::Device::cpu, {})) found.push_back(kernel.isa);
      for (const runtime::Isa& isa : runtime::isas()) {
        const bool baseline = isa.kernels().rows == runtime::isas().front().kernels().rows;
        if (converter.format == "csr" || baseline) expected.push_back(isa.name);
      }
      CHECK(found == expected);
    }
}

TEST_CASE("kernels: names are unique, say what they are, and the best available one is found") {
  std::set<std::string_view> names;
  for (const Kernel& kernel : runtime::kernels()) {
    CAPTURE(kernel.name);
    CHECK(names.insert(kernel.name).second);
    const std::string format(kernel.format),
        op = kernel.op == &runtime::kSpmm ? "" : std::string(kernel.op->name) + ".";
    if (kernel.device == runtime::Device::cpu)
      CHECK(kernel.name == "cpu." + format + "." + op + std::string(kernel.isa));
    else
      CHECK(kernel.name.starts_with("cuda." + format + "."));
    if (!available(kernel)) continue;
    const Kernel* found = runtime::find_kernel(*kernel.op, kernel.format, kernel.device, kernel.name);
    REQUIRE(found != nullptr);
    CHECK(found->name == kernel.name);
  }
  for (const runtime::Operation* op : runtime::operations())
    for (const formats::Converter& converter : formats::converters()) {
      const Kernel* best = runtime::find_kernel(*op, converter.format, runtime::Device::cpu);
      CHECK((best != nullptr || converter.format != "csr"));  // some operations have csr alone
      if (best == nullptr) continue;
      std::string_view last;
      for (const Kernel& kernel : runtime::kernels())
        if (kernel.op == op && kernel.device == runtime::Device::cpu && available(kernel) &&
            kernel.format == converter.format)
          last = kernel.name;
      CHECK((best == nullptr ? std::string_view() : best->name) == last);
    }
  CHECK(runtime::find_kernel(runtime::kSpmm, "nonsense", runtime::Device::cpu) == nullptr);
  CHECK(runtime::find_operation("nonsense") == nullptr);
  for (const runtime::Operation* op : runtime::operations()) CHECK(runtime::find_operation(op->name) == op);
}
