// Work of the products of a distributed step, for the prediction of its time.
#pragma once

#include <cstdint>
#include <vector>

#include "reorder/partition/division.hpp"
#include "tools/partition/row_source.hpp"
#include "tools/partition/survey.hpp"

namespace sptile::tools {

/// Counts of a product C = A B. A load is a nonzero of A, which loads a row of B.
struct ProductWork {
  std::int64_t entries = 0;  ///< nonzeros of A
  std::int64_t outputs = 0;  ///< rows of C read or written
  double near_misses = 0;    ///< loads that miss a cache of kNearBytes
  double far_misses = 0;     ///< loads that miss a cache of kFarBytes
};

/// Caches of the model: the reuse within a multiprocessor and its neighbours, and L2.
inline constexpr double kNearBytes = 1e6, kFarBytes = 50e6;

struct PartWork {
  ProductWork local;  ///< writes all rows of the part
  ProductWork halo;   ///< reads and writes the boundary rows
};

/// Products of one device with the entire matrix, and of each part.
struct StepWork {
  ProductWork one;
  std::vector<PartWork> parts;
};

/// Estimates misses for rows of B of `row_bytes` bytes from all loads of a small matrix, and from runs of
/// 2^24 consecutive loads of a large one: 8 runs of the entire product, and at least one of each part.
/// `survey` describes the division. O(loads of the runs); a few megabytes per thread.
StepWork work_of_step(const RowSource& source, const reorder::Division& division, const Survey& survey,
                      std::int64_t row_bytes);

}  // namespace sptile::tools
