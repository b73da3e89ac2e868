// What a predicted time is made of: a few counts, each multiplied by a constant of the kernel and device.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/choice/format_counts.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// One term of the model.
struct FeatureInfo {
  std::string_view name;  ///< in profiles
  std::string_view what;  ///< for people
};

/// Products are bound by how rows of B (of Y, for SDDMM) come to the multiprocessors, so most terms are
/// bytes: all fetches, those that a near cache (L1, shared memory) does not have, those that come from
/// memory, and what goes by once, which is also how many short rows there are. The others are work that does
/// not depend on N, for SpMM repeated for every slice of columns, and what one unit takes that cannot be
/// shared out.
inline constexpr std::array<FeatureInfo, 10> kFeatures = {{
    {"launch", "kernel launch"},
    {"gather_mb", "loads of rows of B or Y"},
    {"far_mb", "of which cache misses"},
    {"streamed_mb", "accesses to C, or X and the results"},
    {"memory_mb", "format, C (or X and the results), and rows of B or Y out of memory"},
    {"entries_m", "decoded entries"},
    {"tiles_m", "tile multiplications"},
    {"units_m", "rows or windows written, or rows of X read"},
    {"longest_k", "loads of the longest row or window"},
    {"partial_mb", "partial sums of split rows or windows"},
}};

/// Megabytes, millions and thousands, in the order of kFeatures.
using CostFeatures = std::array<double, kFeatures.size()>;

/// The caches that rows of B pass.
struct Caches {
  double near_bytes = 128e3;  ///< of one multiprocessor or core
  double far_bytes = 50e6;    ///< shared by all: L2 of a device, last level of a CPU
};

/// Fetches that miss a cache: of a sample of the column lists (see miss_share for its cost), or bounds of it,
/// which cost O(units).
enum class Misses { sampled, none, all };

/// Returns the features of a product. None decreases from Misses::none to sampled to all.
/// Kernels work on slices of kSliceBytes of the rows of B; what else they do, Operation::work says.
CostFeatures cost_features(const Operation& op, const formats::FormatView& a, const RunSizes& sizes,
                           const DenseTypes& types, const Caches& caches, Misses misses = Misses::sampled);

inline constexpr std::int64_t kSliceBytes = 512;

}  // namespace sptile::runtime
