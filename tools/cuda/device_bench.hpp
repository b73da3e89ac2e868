// Measures products on a CUDA device with operands that stay there: the seam between the tools and CUDA. A
// build without nvcc has the same function (none.cpp), which says so.
#pragma once

#include <memory>

#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

struct DeviceBenchOptions {
  bool flush_l2 = false;  ///< before every launch
  bool graph = false;     ///< launches are captured in a CUDA graph
  bool check = true;      ///< compare with sums in double before timing
  bool predict = true;    ///< say what the cost model expects
  bool time_planning = true;
};

/// Measures on the first device, which is opened with the first matrix: then what its memory can do is
/// measured, too. Planning is timed the second time, when device and pinned memory are warm.
/// Errc::unsupported when no kernel was compiled in.
Result<std::unique_ptr<ProductBench>> make_device_bench(Session& session, const DeviceBenchOptions& options);

}  // namespace sptile::tools
