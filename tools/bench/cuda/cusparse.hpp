// cuSPARSE as a yardstick, found at run time: nothing is linked to it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/cuda/device_math.hpp"

namespace sptile::bench {

/// One algorithm, ready to be launched on the default stream: C = A B, row-major.
struct CusparseRun {
  std::string name;  ///< "cusparse.alg2"
  std::function<void()> launch;
};

/// Prepares every algorithm for a product; sums are f32, or f64 for f64. The operands must live as long as
/// the result. Empty when there is no cuSPARSE.
std::vector<CusparseRun> cusparse_runs(const DeviceCsr& a, const void* b, void* c, std::int64_t n);

}  // namespace sptile::bench
