// Measures products on a CUDA device with operands that stay there: the interface between the tools and CUDA.
// A build without nvcc defines the same function in none.cpp, which returns an error.
#pragma once

#include <memory>

#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

struct DeviceBenchOptions {
  bool flush_l2 = false;  ///< flush before every launch
  bool graph = false;     ///< capture launches in a CUDA graph
  bool check = true;      ///< compare with sums in double before timing
  bool predict = true;    ///< also predict the time
  bool time_planning = true;
};

/// Measures on the first device. It is opened with the first matrix, when its memory bandwidths are measured,
/// too. The second planning is timed, when device and pinned memory are warm. Errc::unsupported if no kernel
/// was compiled in.
Result<std::unique_ptr<ProductBench>> make_device_bench(Session& session, const DeviceBenchOptions& options);

}  // namespace sptile::tools
