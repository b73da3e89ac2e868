// Features of predicted times: counts that are multiplied by constants of the kernel and device.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/choice/format_counts.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// One term of the model.
struct FeatureInfo {
  std::string_view name;  ///< name in profiles
  std::string_view what;  ///< description
};

/// Products are bound by loading rows of B (of Y, for SDDMM), so most terms are bytes: all loads, misses of a
/// near cache (L1, shared memory), loads from memory, and data that is accessed once, which also represents
/// the number of short rows. The others are work that does not depend on N, repeated per slice of columns for
/// SpMM, and the serial time of one unit. Rows are loaded element by element unless their bytes are a
/// multiple of kVectorBytes. Kernels that split long units have a constant for `long_k`, which approaches 1.
inline constexpr std::array<FeatureInfo, 13> kFeatures = {{
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
    {"loads_m", "loaded rows of B or Y"},
    {"elements_m", "elements of such rows that are loaded one by one"},
    {"long_k", "k / (1 + k) of the loads of the longest row or window"},
}};

/// Values in megabytes, millions and thousands, in the order of kFeatures.
using CostFeatures = std::array<double, kFeatures.size()>;

/// Caches between memory and the multiprocessors or cores.
struct Caches {
  double near_bytes = 128e3;  ///< per multiprocessor or core
  double far_bytes = 50e6;    ///< shared: L2 of a device, last-level cache of a CPU
};

/// Loads of a list that a sample reads twice, see sampled_ranges: memory traffic of a grid repeats after an
/// entire plane.
inline constexpr std::int64_t kSampledLoads = std::int64_t{1} << 21;

/// Loads that miss a cache: estimated from a sample of the column lists (see miss_share for its cost), or
/// bounds, which cost O(units).
enum class Misses { sampled, none, all };

/// Returns the features of a product. No feature decreases from Misses::none to sampled to all. Kernels
/// process slices of kSliceBytes of the rows of B; Operation::work defines the remaining work.
CostFeatures cost_features(const Operation& op, const formats::FormatView& a, const RunSizes& sizes,
                           const DenseTypes& types, const Caches& caches, Misses misses = Misses::sampled);

inline constexpr std::int64_t kSliceBytes = 512;
inline constexpr std::int64_t kVectorBytes = 16;

}  // namespace sptile::runtime
