#include "runtime/choice/cost_features.hpp"

#include <algorithm>

namespace sptile::runtime {
namespace {

// A multiprocessor reuses rows of B within few loads or not at all.
constexpr std::int64_t kNearSample = std::int64_t{1} << 17;

/// Returns the fraction of loads that miss a cache of this size.
double share_past(const FormatCounts& counts, double cache_bytes, double row_bytes, std::int64_t sample,
                  Misses misses) {
  if (row_bytes == 0) return 0;  // the operation reads no rows of B
  if (misses != Misses::sampled) return misses == Misses::all ? 1 : 0;
  return miss_share(counts.lists, static_cast<std::int64_t>(std::max(cache_bytes / row_bytes, 1.0)), sample);
}

/// Loads for a column of A: a row of each input operand with one row per column of A and head.
struct LoadedRows {
  double rows = 0, bytes = 0;
  double elements = 0;  ///< elements of rows that are not loaded in vectors
};

LoadedRows loaded_rows(const Operation& op, const RunSizes& sizes, const DenseTypes& types) {
  LoadedRows loaded;
  const auto heads = static_cast<double>(sizes.heads);
  for (const OperandSpec& spec : op.operands) {
    if (spec.extent != Extent::cols || spec.result) continue;
    const std::int64_t width = shape_of(spec, {.run = sizes}).width;
    const auto size = static_cast<std::int64_t>(size_of(type_of(spec, types)));
    loaded.rows += heads;
    loaded.bytes += heads * static_cast<double>(width) * static_cast<double>(size);
    if (width % (kVectorBytes / size) != 0) loaded.elements += heads * static_cast<double>(width);
  }
  return loaded;
}

}  // namespace

CostFeatures cost_features(const Operation& op, const formats::FormatView& a, const RunSizes& sizes,
                           const DenseTypes& types, const Caches& caches, Misses misses) {
  const FormatCounts counts = count_format(a);
  const LoadedRows loaded = loaded_rows(op, sizes, types);
  const double row_bytes = loaded.bytes;
  const double slices = std::max((row_bytes + kSliceBytes - 1) / kSliceBytes, 1.0);
  const auto rounds = static_cast<double>(static_cast<std::int64_t>(std::min(slices, 1e15)));
  const Work work = op.work({.rows = a.rows,
                             .nnz = a.nnz,
                             .units = counts.units,
                             .pieces = counts.pieces,
                             .row_bytes = row_bytes,
                             .n = static_cast<double>(sizes.n),
                             .m = static_cast<double>(sizes.m),
                             .heads = static_cast<double>(sizes.heads),
                             .result_bytes = static_cast<double>(size_of(types.result)),
                             .slices = rounds});
  const auto loads = static_cast<double>(counts.loads), longest = static_cast<double>(counts.longest) * 1e-3;
  const double gathered = loads * row_bytes;
  // A near cache holds one slice of a row at a time.
  const double near_row = std::min(row_bytes, static_cast<double>(kSliceBytes));
  const double far = gathered * share_past(counts, caches.near_bytes, near_row, kNearSample, misses);
  // Data that fits into the far cache together with everything else is still there from the previous run.
  const double rows_of_b = static_cast<double>(std::min(a.cols, counts.loads));
  const double footprint = static_cast<double>(counts.bytes) + work.streamed + rows_of_b * row_bytes;
  const double cold = footprint > caches.far_bytes ? 1 - caches.far_bytes / footprint : 0;
  // Each decoding of the format reads a part of the row of B.
  const double part = row_bytes / std::max(work.decodings, 1.0);
  const double missed =
      cold > 0 ? gathered * share_past(counts, caches.far_bytes, part, kSampledLoads, misses) : 0;
  return {1,
          gathered * 1e-6,
          far * 1e-6,
          work.streamed * 1e-6,
          cold * (missed + work.streamed + static_cast<double>(counts.bytes)) * 1e-6,
          static_cast<double>(counts.entries) * work.decodings * 1e-6,
          static_cast<double>(counts.tiles) * work.decodings * 1e-6,
          static_cast<double>(counts.units) * rounds * 1e-6,
          longest,
          work.partial * 1e-6,
          loads * loaded.rows * 1e-6,
          loads * loaded.elements * 1e-6,
          longest / (1 + longest)};
}

}  // namespace sptile::runtime
