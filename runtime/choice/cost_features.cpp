#include "runtime/choice/cost_features.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sptile::runtime {
namespace {

// Rows of B return to a multiprocessor within few fetches or not at all, to the memory after a whole plane of
// a grid.
constexpr std::int64_t kNearSample = std::int64_t{1} << 17;
constexpr std::int64_t kFarSample = std::int64_t{1} << 21;

/// Share of fetches that a cache of this many bytes does not have.
double share_past(const FormatCounts& counts, double cache_bytes, double row_bytes, std::int64_t sample) {
  return miss_share(counts.lists, static_cast<std::int64_t>(std::max(cache_bytes / row_bytes, 1.0)), sample);
}

/// What depends on the operation, beside fetching rows.
struct Work {
  double streamed = 0;  ///< bytes of dense operands and results that go by once
  double decodings = 1;
  double partial = 0;  ///< bytes of sums of pieces
};

struct Sizes {
  const formats::FormatView& a;
  const FormatCounts& counts;
  double row_bytes, element_bytes, slices;
};

Work spmm_work(const Sizes& s) {
  const auto rows = static_cast<double>(s.a.rows);
  const double rows_of_unit = std::ceil(rows / std::max<double>(1, static_cast<double>(s.counts.units)));
  return {rows * s.row_bytes, s.slices, static_cast<double>(s.counts.pieces) * rows_of_unit * s.row_bytes};
}

/// Rows of X without entries are not read.
Work sddmm_work(const Sizes& s) {
  const auto rows = static_cast<double>(std::min(s.a.rows, s.a.nnz));
  return {rows * s.row_bytes + static_cast<double>(s.a.nnz) * s.element_bytes, 1, 0};
}

/// A new operation adds a row.
struct Operation {
  std::string_view op;
  Work (*work)(const Sizes&);
};
constexpr Operation kOperations[] = {{"spmm", spmm_work}, {"sddmm", sddmm_work}};

Work work_of(std::string_view op, const Sizes& sizes) {
  const auto* const row = std::find_if(std::begin(kOperations), std::end(kOperations),
                                       [&](const Operation& o) { return o.op == op; });
  return row == std::end(kOperations) ? Work{} : row->work(sizes);
}

}  // namespace

CostFeatures cost_features(std::string_view op, const formats::FormatView& a, std::int64_t n,
                           std::int64_t element_bytes, const Caches& caches) {
  const FormatCounts counts = count_format(a);
  const double row_bytes = static_cast<double>(n) * static_cast<double>(element_bytes);
  const double slices = std::max((row_bytes + kSliceBytes - 1) / kSliceBytes, 1.0);
  const auto rounds = static_cast<double>(static_cast<std::int64_t>(std::min(slices, 1e15)));
  const Work work = work_of(op, {a, counts, row_bytes, static_cast<double>(element_bytes), rounds});
  const double gathered = static_cast<double>(counts.fetches) * row_bytes;
  // A near cache holds one slice of a row at a time.
  const double near_row = std::min(row_bytes, static_cast<double>(kSliceBytes));
  const double far = gathered * share_past(counts, caches.near_bytes, near_row, kNearSample);
  // What fits into the far cache together with everything else is still there from the run before.
  const double rows_of_b = static_cast<double>(std::min(a.cols, counts.fetches));
  const double footprint = static_cast<double>(counts.bytes) + work.streamed + rows_of_b * row_bytes;
  const double cold = footprint > caches.far_bytes ? 1 - caches.far_bytes / footprint : 0;
  const double missed = cold > 0 ? gathered * share_past(counts, caches.far_bytes, row_bytes, kFarSample) : 0;
  return {1,
          gathered * 1e-6,
          far * 1e-6,
          cold * (missed + work.streamed + static_cast<double>(counts.bytes)) * 1e-6,
          static_cast<double>(counts.entries) * work.decodings * 1e-6,
          static_cast<double>(counts.tiles) * work.decodings * 1e-6,
          static_cast<double>(counts.units) * rounds * 1e-6,
          static_cast<double>(counts.longest) * 1e-3,
          work.partial * 1e-6};
}

}  // namespace sptile::runtime
