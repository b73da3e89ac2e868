// Measures windows of many shapes on tensor cores and on CUDA cores.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tools/calibrate/selector.hpp"
#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

/// What is measured.
struct SelectorSampling {
  ProductBench* bench = nullptr;
  std::string_view kernel;            ///< of SpMM with hc_window
  std::vector<std::int64_t> columns;  ///< N
  std::vector<WindowShape> shapes;
  std::int64_t windows = 4096, matrix_cols = 16384;  ///< of each matrix: many more than run at once
};

/// Measures f32 and f16 values, with the kernel's own precisions. Errc::check_failed when a result is wrong,
/// Errc::io when cancelled.
Result<std::vector<SelectorSample>> sample_selectors(Session& session, const SelectorSampling& sampling);

}  // namespace sptile::tools
