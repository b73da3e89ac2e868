#include "runtime/cuda/device/me_tcf_masks.hpp"

#include <bit>
#include <cstddef>
#include <utility>

#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {

std::int64_t append_masks(Schedule& schedule, const formats::MeTcfView& a) {
  const std::size_t tiles = a.tc_offset.size() - 1;
  const std::int64_t at = append_zeros(schedule, 16 * tiles);
  auto* const masks = reinterpret_cast<std::uint32_t*>(schedule.bytes.data() + at);
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::size_t t = 0; t < tiles; ++t)
    for (std::uint32_t i = a.tc_offset[t]; i < a.tc_offset[t + 1]; ++i) {
      const unsigned id = a.tc_local_id[i] % 128;  // ids may be unverified; then the masks are not used
      masks[4 * t + id / 32] |= 1u << id % 32;
    }
  return at;
}

std::int64_t read_masks(ScheduleReader& reader, const formats::MeTcfView& a) {
  const std::size_t tiles = a.tc_offset.size() - 1;
  std::int64_t at = 0;
  const auto words = reader.part<std::uint64_t>(2 * static_cast<std::int64_t>(tiles), at);
  if (words.empty()) return at;
  bool same = true;
#pragma omp parallel for schedule(static) num_threads(max_threads()) reduction(&& : same)
  for (std::size_t t = 0; t < tiles; ++t)
    same = same && std::cmp_equal(std::popcount(words[2 * t]) + std::popcount(words[2 * t + 1]),
                                  a.tc_offset[t + 1] - a.tc_offset[t]);
  reader.require(same, "a mask does not match the entries of its tile");
  return at;
}

}  // namespace sptile::runtime::cuda
