// Measurement of window shapes on tensor cores and on CUDA cores.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tools/calibrate/selector.hpp"
#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

/// Kernel and sizes to measure.
struct SelectorSampling {
  ProductBench* bench = nullptr;
  std::string_view kernel;            ///< an SpMM kernel of hc_window
  std::vector<std::int64_t> columns;  ///< values of N
  std::vector<WindowShape> shapes;
  /// sizes of each matrix: many more windows than run concurrently
  std::int64_t windows = 4096, matrix_cols = 16384;
};

/// Measures f32 and f16 values with the kernel's default precisions. Errc::check_failed if a result is wrong,
/// Errc::io if cancelled.
Result<std::vector<SelectorSample>> sample_selectors(Session& session, const SelectorSampling& sampling);

}  // namespace sptile::tools
