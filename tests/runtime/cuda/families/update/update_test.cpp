// The code of the kernels of an update, run on the host lane by lane, and their schedules.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/update/dense.cu"
#include "runtime/cuda/families/update/fused.cu"
#include "runtime/cuda/families/update/gradient.cu"
#pragma GCC diagnostic pop

#include <limits>
#include <numeric>

#include "tests/runtime/cuda/emulated_product.hpp"
#include "tests/runtime/random_operation.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Activation;
using runtime::kSpmmUpdate;
using runtime::kUpdateGradient;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;

namespace {

/// Runs an instance on operands that are there; gives the bits of the last result.
std::vector<std::byte> emulate(const DeviceKernel& kernel, const OperationProblem& p,
                               RandomOperands& operands, const Formatted& formatted, const DeviceInfo& device,
                               std::int64_t planned_n = 0) {
  const formats::FormatView view = formatted.data.view();
  const Schedule schedule = kernel.schedule({view, planned_n != 0 ? planned_n : p.n, device, {}, p.variant});
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  // Sums may start as anything, counters are zero.
  std::vector<float> workspace(schedule.workspace_bytes / sizeof(float) + 4,
                               std::numeric_limits<float>::quiet_NaN());
  std::size_t counters = 0;
  if (schedule.header.is<runtime::cuda::UpdateHeader>())
    counters = static_cast<std::size_t>(2 + schedule.header.as<runtime::cuda::UpdateHeader>().splits);
  std::fill_n(workspace.begin(), counters, 0.0F);
  Launch launch;
  launch.format = with_addresses(view);
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.header = &schedule.header;
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.operands = operands.operands();
  launch.n = p.n;
  launch.sizes = operands.sizes().run;
  launch.variant = p.variant;
  launch.device = &device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(memory_order.violated);
  CHECK(std::all_of(workspace.begin(), workspace.begin() + static_cast<std::ptrdiff_t>(counters),
                    [](float x) { return std::bit_cast<std::uint32_t>(x) == 0; }));
  const auto last = static_cast<int>(p.op.operands.size()) - 1;
  const auto* const result = static_cast<const std::byte*>(operands.array(last).data());
  return {result, result + operands.bytes(static_cast<std::size_t>(last))};
}

/// What makes a case, besides the problem.
struct Case {
  bool permuted = false, all_results = true;
  DeviceInfo device = emulated_device();
  bool nonfinite = false;
  std::int64_t planned_n = 0;
};

/// Puts NaN, infinity and the largest factor into four rows of the first operand, and infinity into the
/// second one, in which half of the columns are numbers that are exact in any precision, so that their rests
/// are zero.
void poison(RandomOperands& operands, const DeviceKernel& kernel, const OperationProblem& p) {
  const double special[] = {kInfinity, -kInfinity, kNaN, largest_factor(kernel)};
  for (std::int64_t r = 0; r < 4; ++r) operands.set(0, r, r, special[r]);
  const std::int64_t rows = &p.op == &kSpmmUpdate ? p.n : p.a.rows;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < p.variant.m; ++j)
      if (j % 4 < 2) operands.set(1, r, j, 0.5 * static_cast<double>(j % 4));
  operands.set(1, 5, 6, kInfinity);
}

/// Z as the format's SpMM would have left it.
void fill_z(RandomOperands& operands, const OperationProblem& p) {
  runtime::ReferenceProduct product = {p.a.view(), p.n, {p.types.operands}, p.variant, {}};
  runtime::Operands exact = operands.operands();
  formats::Array c(p.types.operands, std::max<std::int64_t>(1, p.a.rows * operands.sizes().run.m));
  exact.dense[runtime::kUpdateC] = {c.data(), operands.sizes().run.m};
  write_reference(p.op, product, exact);
}

void check(const DeviceKernel& kernel, OperationProblem p, const Case& c, Random& random) {
  p.types = types_of(kernel);
  CAPTURE(kernel.kernel);
  CAPTURE(name_of(p.types.operands));
  CAPTURE(name_of(p.types.result));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(p.n);
  CAPTURE(p.variant.m);
  CAPTURE(p.a.rows);
  CAPTURE(p.pad);
  const Formatted formatted =
      format_matrix(p.a, "csr", c.permuted ? random_order(p.a.rows, random) : std::vector<std::int32_t>{});
  RandomOperands operands(p, random);
  if (c.nonfinite) poison(operands, kernel, p);
  const bool reads_z = kernel.kernel.ends_with("update2");
  if (reads_z) fill_z(operands, p);
  for (std::size_t i = 0; i < p.op.operands.size(); ++i) {
    const runtime::OperandSpec& spec = p.op.operands[i];
    const bool needed = spec.name == "C" || (reads_z && spec.name == "Z");
    if (spec.optional && !needed && !c.all_results) operands.leave_out(static_cast<int>(i));
  }
  emulate(kernel, p, operands, formatted, c.device, c.planned_n);
  CHECK(operands.error(p.a.values.dtype()) <=
        operands.tolerated() + runtime::factor_error(runtime::kSpmm, kernel.precision, p.types) +
            (size_of(p.types.operands) == 2 ? 1e-3 : 0));
  CHECK(operands.gaps_untouched());
}

std::vector<DeviceKernel> forward_kernels() {
  std::vector<DeviceKernel> rows;
  for (const auto family : {runtime::cuda::fused_update_kernels, runtime::cuda::dense_update_kernels<0>})
    rows.insert(rows.end(), family().begin(), family().end());
  return rows;
}
std::vector<DeviceKernel> all_kernels() {
  std::vector<DeviceKernel> rows = forward_kernels();
  const auto more = runtime::cuda::update_gradient_kernels();
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}
const runtime::Operation& op_of(const DeviceKernel& kernel) {
  return kernel.kernel == runtime::cuda::kUpdateGradientRows ? kUpdateGradient : kSpmmUpdate;
}

}  // namespace

TEST_CASE("update kernels: rows of many entries in pieces, empty rows, values of any type") {
  Random random(3);
  for (const DeviceKernel& kernel : all_kernels()) {
    if (&op_of(kernel) == &kUpdateGradient || kernel.kernel != runtime::cuda::kFusedUpdate) continue;
    const auto skewed = [](std::int64_t r, std::int64_t) {
      return r % 9 == 4 ? 0.95 : r % 3 == 0 ? 0 : 0.03;
    };
    for (const DType values : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const formats::Csr a = random_matrix(21, 900, values, random, skewed);
      check(kernel, {kSpmmUpdate, a, 24, {}, {.m = 8}, 0},
            {.permuted = values == DType::f32, .device = emulated_device(2)}, random);
    }
    const formats::Csr a = random_matrix(21, 900, DType::f32, random, skewed);
    check(kernel, {kSpmmUpdate, a, 7, {}, {.m = 3}, 1}, {}, random);
    check(kernel, {kSpmmUpdate, a, 264, {}, {.m = 8}, 0}, {.all_results = false}, random);
  }
}

TEST_CASE("update kernels: gradients of many rows, of none") {
  Random random(4);
  for (const DeviceKernel& kernel : runtime::cuda::update_gradient_kernels()) {
    const formats::Csr many = random_matrix(1500, 3, 0.1, DType::f32, random);
    for (const int sms : {1, 132})  // three parts, and more than the warps that add them
      check(kernel, {kUpdateGradient, many, 20, {}, {.m = 70, .activation = Activation::relu}, 0, -2},
            {.device = emulated_device(sms)}, random);
    const formats::Csr none = random_matrix(0, 3, 0, DType::f32, random);
    check(kernel, {kUpdateGradient, none, 20, {}, {.m = 7}, 0, -2}, {}, random);
  }
  for (const DeviceKernel& kernel : forward_kernels())
    for (const auto& [rows, cols] : {std::pair{0, 9}, {9, 0}, {20, 5}}) {
      const formats::Csr none = random_matrix(rows, cols, 0, DType::f32, random);
      check(kernel, {kSpmmUpdate, none, 8, {}, {.m = 8}}, {}, random);
    }
}

TEST_CASE("update kernels: the same bits on one multiprocessor and on many, for any shape of work") {
  Random random(5);
  const formats::Csr a = uneven_matrix(150, 60, DType::f32, random);
  for (const DeviceKernel& kernel : runtime::cuda::fused_update_kernels()) {
    const OperationProblem p{kSpmmUpdate, a, 16, types_of(kernel), {.m = 8}};
    RandomOperands operands(p, random);
    const Formatted formatted = format_matrix(a, "csr");
    const auto one = emulate(kernel, p, operands, formatted, emulated_device(1));
    CHECK(emulate(kernel, p, operands, formatted, emulated_device(1)) == one);
    CHECK(emulate(kernel, p, operands, formatted, emulated_device(132)) == one);
  }
}

TEST_CASE("update kernels: NaN, infinity and the largest factors give what IEEE arithmetic gives") {
  Random random(6);
  const formats::Csr a = random_matrix(40, 30, 0.1, DType::f32, random);
  for (const DeviceKernel& kernel : all_kernels())
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{19, 21}, {32, 40}})
      check(kernel, {op_of(kernel), a, n, {}, {.m = m}}, {.nonfinite = true}, random);
}

TEST_CASE("update kernels: a plan for many columns serves few") {
  Random random(8);
  const formats::Csr a = random_matrix(21, 400, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 9 ? 0.95 : 0.03;  // a row in pieces
  });
  for (const DeviceKernel& kernel : all_kernels())
    for (const auto& [planned, n] : {std::pair{136, 72}, {136, 1}, {40, 7}})
      check(kernel, {op_of(kernel), a, n, {}, {.m = 24}, 8},
            {.device = emulated_device(n == 7 ? 132 : 1), .planned_n = planned}, random);
}

TEST_CASE("update schedule: every row is the work of one window, or of pieces that have all its entries") {
  Random random(7);
  for (const int sms : {1, 132}) {
    const formats::Csr a = random_matrix(500, 3000, DType::none, random, [](std::int64_t r, std::int64_t) {
      return r % 100 == 50 ? 0.9 : r % 7 == 0 ? 0 : 0.01;
    });
    Schedule schedule;
    const auto header =
        runtime::cuda::append_update(schedule, a.view().row_ptr, DType::f32, 64, emulated_device(sms));
    const auto part = [&]<class T>(std::int64_t at, std::int64_t count, const T*) {
      return std::span(reinterpret_cast<const T*>(schedule.bytes.data() + at),
                       static_cast<std::size_t>(count));
    };
    std::vector<int> times(500, 0);
    for (const auto& w :
         part(header.windows_at, header.windows, static_cast<const runtime::cuda::UpdateWindow*>(nullptr))) {
      CHECK(w.rows >= 1);
      CHECK(w.rows <= runtime::cuda::kWindowRows);
      CHECK(w.entry == a.row_ptr[w.row]);
      for (int r = 0; r < w.rows; ++r) ++times[static_cast<std::size_t>(w.row + r)];
    }
    const auto pieces =
        part(header.pieces_at, header.pieces, static_cast<const runtime::cuda::CsrPiece*>(nullptr));
    for (const auto& s :
         part(header.splits_at, header.splits, static_cast<const runtime::cuda::CsrSplit*>(nullptr))) {
      ++times[static_cast<std::size_t>(s.row)];
      std::int64_t next = a.row_ptr[s.row];
      for (const auto& piece :
           pieces.subspan(static_cast<std::size_t>(s.first_piece), static_cast<std::size_t>(s.pieces))) {
        CHECK(piece.entry == next);
        next += piece.entries;
      }
      CHECK(next == a.row_ptr[s.row + 1]);
    }
    CHECK(header.splits > 0);
    CHECK(std::all_of(times.begin(), times.end(), [](int t) { return t == 1; }));
  }
}

TEST_CASE("update shape: what does not fit is refused with the bytes; blocks share a multiprocessor") {
  const DeviceInfo device = emulated_device();
  constexpr auto kF32 = runtime::cuda::update_memory(DType::f32, runtime::Precision::tf32);
  const auto small = runtime::cuda::update_shape(64, 64, kF32, device);
  CHECK(small.warps * small.blocks >= 24);
  CHECK(runtime::cuda::update_shape(128, 128, kF32, device).warps == 12);
  const Status refused = runtime::cuda::check_update(256, 256, kF32, device);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message ==
        "weights of 256 x 256 need 331520 bytes of shared memory per block, but emulated has 232448");
  CHECK_FALSE(runtime::cuda::check_update(std::int64_t{1} << 40, 4, kF32, device));
}
