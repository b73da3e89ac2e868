#include "tools/doctor/trial.hpp"

#include <fmt/format.h>

#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/measure/host_bench.hpp"

namespace sptile::tools::doctor {
namespace {

constexpr std::int64_t kRows = 101, kCols = 75, kColumns = 16;  // kColumns is the n of the dense operands

// Runs one operation with all kernels of one format, except those that must be requested by name or need
// other types or shapes.
void try_format(HostBench& bench, const runtime::Operation& op, const formats::FormatView& format,
                Trial& trial) {
  const runtime::PlanMatrix a{format, {}, {}, nullptr};
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (!runtime::is_for(kernel, op, format.layout->name, trial.device, {}) || !runtime::available(kernel))
      continue;
    const auto measured = bench.measure(a, {kernel.name, {}});
    if (!measured && (measured.error().code == Errc::unsupported || measured.error().code == Errc::usage))
      continue;
    const Status good = measured ? check_outcome(*measured) : tl::unexpected(measured.error());
    if (good)
      ++trial.products;
    else
      trial.failures.push_back(fmt::format("{}: {}", kernel.name, good.error().text()));
  }
}

}  // namespace

formats::Csr trial_matrix() {
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> col_idx;
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kCols; ++j)
      if (i != 3 && (i == 20 || (7 * i + 5 * j + i * j) % 17 == 0)) {
        col_idx.push_back(static_cast<std::int32_t>(j));
        values.push_back(static_cast<float>((3 * i + 11 * j) % 19 - 9));
      }
    row_ptr.push_back(std::ssize(col_idx));
  }
  return formats::copy({kRows, kCols, row_ptr, col_idx, ArrayView(std::span<const float>(values))});
}

Trial try_kernels(Session& session, runtime::Device device) {
  Trial trial{device, 0, {}};
  const formats::Csr csr = trial_matrix();
  HostBench bench(session,
                  {.device = device, .repeats = Repeats{0, 1}, .check = CheckedRows::all, .predict = false});
  const auto note = [&](const Status& s) {
    if (!s) trial.failures.push_back(s.error().text());
    return s.has_value();
  };
  if (!note(bench.set_matrix(csr.view(), {DType::f32, DType::f32}))) return trial;
  for (const formats::Converter& converter : formats::converters()) {
    const auto made = converter.from_csr(csr.view(), nullptr);
    if (!made) {
      trial.failures.push_back(fmt::format("{}: {}", converter.format, made.error().text()));
      continue;
    }
    for (const runtime::Operation* op : runtime::operations())
      if (note(bench.set_operands(*op, kColumns))) try_format(bench, *op, made->view(), trial);
  }
  return trial;
}

}  // namespace sptile::tools::doctor
