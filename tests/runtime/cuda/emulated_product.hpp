// A product by an emulated kernel, compared with the reference. Include it after emulated_block.hpp and the
// kernels.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/operation/error_bound.hpp"
#include "runtime/operation/spmm.hpp"
#include "tests/runtime/cuda/emulated_block.hpp"
#include "tests/runtime/cuda/nonfinite_operands.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// Ragged numbers of columns of B, and the excess of leading dimensions.
inline constexpr std::pair<std::int64_t, std::int64_t> kRagged[] = {{1, 0},  {3, 1},  {17, 8}, {36, 1},
                                                                    {60, 0}, {67, 0}, {200, 1}};

/// Returns a small device, on which little work is divided into many parts.
inline runtime::cuda::DeviceInfo emulated_device(int sm_count = 1, int capability = 90,
                                                 std::size_t l2_bytes = 1 << 20) {
  return {.ordinal = 0,
          .capability = capability,
          .sm_count = sm_count,
          .l2_bytes = l2_bytes,
          .shared_per_block = 227 << 10,
          .memory = 1 << 30,
          .name = "emulated"};
}

/// Returns a matrix with rows of very different lengths: empty, short, long.
inline formats::Csr uneven_matrix(std::int64_t rows, std::int64_t cols, DType values, Random& random) {
  return random_matrix(rows, cols, values, random, [=](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 1.5 / static_cast<double>(cols);
    if (r == 17) return 0.9;
    return (r / 8 + c / 16) % 3 == 0 ? 0.3 : 0.01;
  });
}

/// Parameters of a product.
struct EmulatedProduct {
  const formats::Csr& exact;  ///< in original row order
  formats::FormatView format;
  std::span<const std::int32_t> order;  ///< new_to_old of the format's rows; empty: original order
  std::int64_t n = 32, pad = 0;
  double alpha = 1, beta = 0;
  runtime::cuda::DeviceInfo device;
  /// Returns the offsets of counters and sums in the workspace; null: there are none.
  std::vector<runtime::cuda::ScheduleScratch> (*scratch)(const runtime::cuda::ScheduleHeader&) = nullptr;
  std::int64_t planned_n = 0;  ///< planned columns; 0: equal to n
};

/// Returns the counters in the workspace of a schedule.
inline std::vector<std::span<double>> counters_of(const EmulatedProduct& p,
                                                  const runtime::cuda::Schedule& schedule,
                                                  std::span<double> workspace) {
  std::vector<std::span<double>> counters;
  for (const auto& [begin, end] : p.scratch(schedule.header))
    counters.push_back(workspace.subspan(static_cast<std::size_t>(begin) / sizeof(double),
                                         static_cast<std::size_t>(end - begin) / sizeof(double)));
  return counters;
}

/// Gives empty arrays an address, as on the device.
inline formats::FormatView with_addresses(formats::FormatView format) {
  static const std::max_align_t nothing{};
  for (std::size_t i = 0; i < format.layout->arrays.size(); ++i)
    if (ArrayView& array = format.arrays[i]; array.present() && array.size == 0) array.data = &nothing;
  return format;
}

/// Divides the work, stores the schedule and restores it, as if it came from a bundle.
inline runtime::cuda::Schedule stored_schedule(const runtime::cuda::DeviceKernel& kernel,
                                               const runtime::cuda::ScheduleRequest& request) {
  runtime::cuda::Schedule made = kernel.schedule(request);
  if (kernel.store == nullptr) return made;
  const std::vector<std::int64_t> numbers = kernel.store->numbers(made.header);
  auto restored = kernel.store->restore(request, {numbers, made.bytes});
  REQUIRE_MESSAGE(restored, restored.error().message);
  CHECK(restored->workspace_bytes == made.workspace_bytes);
  CHECK(kernel.store->numbers(restored->header) == numbers);
  restored->bytes = std::move(made.bytes);
  restored->borrowed = {};
  return std::move(*restored);
}

/// Runs the product and compares it with the reference; checks the gaps between rows of C and the counters.
/// Inputs on which no result depends are NaN. Returns the schedule.
inline runtime::cuda::Schedule check_emulated_product(const runtime::cuda::DeviceKernel& kernel,
                                                      const EmulatedProduct& p, Random& random) {
  CAPTURE(kernel.kernel);
  CAPTURE(name_of(kernel.values));
  CAPTURE(name_of(kernel.dense));
  const runtime::DenseTypes types = types_of(kernel);
  CAPTURE(name_of(types.result));
  CAPTURE(static_cast<int>(kernel.precision));
  CAPTURE(p.exact.rows);
  CAPTURE(p.n);
  CAPTURE(p.pad);
  CAPTURE(p.planned_n);
  CAPTURE(p.device.sm_count);
  CAPTURE(p.device.capability);
  Dense dense(p.exact, p.n, types, random, p.pad);
  const DenseRows b{dense.b, p.n, dense.ldb};
  const std::vector<std::int64_t> uses = column_counts(p.exact);
  poison_unused(b, uses);
  const runtime::cuda::Schedule schedule =
      stored_schedule(kernel, {p.format, p.planned_n != 0 ? p.planned_n : p.n, p.device});
  // Counters must start at zero; sums may be uninitialized.
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 2, 1e30);
  const auto counters = counters_of(p, schedule, workspace);
  for (const std::span<double> part : counters) std::fill(part.begin(), part.end(), 0);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  std::vector<std::byte> c = dense.c_bytes();
  runtime::cuda::Launch launch;
  launch.format = with_addresses(p.format);
  launch.row_order = p.order.empty() ? nullptr : p.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.header = &schedule.header;
  launch.operands = runtime::to_operands(operands(dense, c.data(), p.alpha, p.beta));
  launch.n = p.n;
  launch.device = &p.device;
  // Kernels must also be correct without their resources.
  std::shared_ptr<void> resources;
  if (kernel.prepare != nullptr && p.device.sm_count == 1) {
    auto made = kernel.prepare(schedule.header);
    REQUIRE(made);
    resources = std::move(*made);
  }
  launch.resources = resources.get();
  CHECK(kernel.launch(launch, nullptr) == 0);
  for (const std::span<double> part : counters)
    CHECK(
        std::all_of(part.begin(), part.end(), [](double x) { return std::bit_cast<std::uint64_t>(x) == 0; }));
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(memory_order.violated);
  CHECK_FALSE(emulated_block.misaligned);
  const double error = runtime::relative_error(
      p.exact.view(), p.n, types, operands(dense, c.data(), p.alpha, p.beta), dense.c_bytes().data());
  CHECK(error <= runtime::tolerated_error(p.exact.view(), types) +
                     runtime::factor_error(runtime::kSpmm, kernel.precision, types));
  const std::vector<std::byte> before = dense.c_bytes();
  const std::size_t size = size_of(types.result);
  for (std::int64_t r = 0; r + 1 < p.exact.rows; ++r) {
    const std::size_t gap = static_cast<std::size_t>(r * dense.ldc + p.n) * size;
    CHECK(std::memcmp(c.data() + gap, before.data() + gap,
                      static_cast<std::size_t>(dense.ldc - p.n) * size) == 0);
  }
  return schedule;
}

}  // namespace sptile::test
