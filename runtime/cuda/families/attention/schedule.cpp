#include "runtime/cuda/families/attention/schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/csr.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Returns the minimum length of a piece. Each piece stores a row of sums, so pieces are long if there is
/// enough work.
std::int64_t shortest_piece(const ScheduleRequest& request, int lanes) {
  constexpr AttentionPolicy kPolicy;
  constexpr std::int64_t kStep = kPolicy.piece_step, kMin = kPolicy.min_piece, kMax = kPolicy.max_piece;
  const std::int64_t groups =
      std::int64_t{kPolicy.warps_per_sm} * std::max(request.device.sm_count, 1) * (32 / lanes);
  const std::int64_t share = request.format.nnz * request.variant.heads / groups;
  return std::clamp((share + kStep - 1) / kStep * kStep, kMin, kMax);
}

/// Appends the items of the rows.
AttentionHeader append_items(Schedule& schedule, const ScheduleRequest& request, DType dense) {
  AttentionHeader header;
  header.m = request.variant.m;
  const std::int64_t widest = std::max(request.n, header.m);
  const CsrRows rows = {
      .row_ptr = formats::as_csr(request.format).row_ptr,
      .shortest_piece = shortest_piece(request, csr_geometry(widest, csr_vector(dense)).lanes)};
  header.rows = append_csr_items(schedule, rows, dense, widest, request.device);
  return header;
}

/// Returns the number of slices of the groups with the fewest lanes.
std::int64_t narrow_slices(std::int64_t columns, int vector) {
  return (columns + kNarrowLanes * vector - 1) / (kNarrowLanes * vector);
}

}  // namespace

Schedule schedule_attention(const ScheduleRequest& request, DType dense, const AttentionSums& sums) {
  Schedule schedule;
  AttentionHeader header = append_items(schedule, request, dense);
  const std::int64_t widest = std::max(request.n, header.m);
  const int vector = csr_vector(dense);
  const CsrGeometry geometry = csr_geometry(widest, vector);
  const std::int64_t of_lane = (sums.rows * vector + sums.numbers) * (dense == DType::f64 ? 8 : 4);
  const std::int64_t narrow = narrow_slices(widest, vector);
  const std::int64_t heads = request.variant.heads;
  header.scratch = append_scratch(schedule, header.rows.splits * heads * std::max(geometry.slices, narrow),
                                  header.rows.pieces * heads * geometry.slices * geometry.lanes * of_lane);
  schedule.header.set(header);
  return schedule;
}

Schedule schedule_gatv2_weights(const ScheduleRequest& request, DType dense, int blocks) {
  Schedule schedule;
  AttentionHeader header = append_items(schedule, request, dense);
  const int vector = csr_vector(dense), together = kWeightSums / vector;
  const std::int64_t m = header.m != 0 ? header.m : request.n;
  const std::int64_t slices = narrow_slices(request.n, vector) * ((m + together - 1) / together);
  const std::int64_t sums = most_item_blocks(blocks, request.device.sm_count, request.variant.heads) *
                            AttentionPolicy{}.threads * kWeightSums;
  header.scratch = append_scratch(schedule, 0, sums * slices * (dense == DType::f64 ? 8 : 4));
  schedule.header.set(header);
  return schedule;
}

std::int64_t attention_least_n(const ScheduleHeader& header, std::int64_t n, DType dense) {
  const int vector = csr_vector(dense);
  const std::int64_t m = header.as<AttentionHeader>().m;
  const bool wide = csr_geometry(std::max(n, m), vector).lanes == csr_geometry(m, vector).lanes;
  return wide ? 1 : csr_least_n(n, vector);
}

Schedule schedule_softmax(const ScheduleRequest& request) {
  const auto row_ptr = formats::as_csr(request.format).row_ptr;
  const std::int64_t rows = request.format.rows;
  SoftmaxHeader header;
  header.lanes = row_ptr.back() <= SoftmaxPolicy{}.short_row * rows ? 8 : 32;
  std::vector<std::int32_t> longest;
  for (std::int64_t r = 0; r < rows; ++r)
    if (row_ptr[static_cast<std::size_t>(r) + 1] - row_ptr[static_cast<std::size_t>(r)] >
        kSoftmaxOfLane * header.lanes)
      longest.push_back(static_cast<std::int32_t>(r));
  Schedule schedule;
  header.long_at = append(schedule, longest);
  header.long_rows = std::ssize(longest);
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
