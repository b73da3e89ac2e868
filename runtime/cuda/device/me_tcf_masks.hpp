// Masks of the tiles of me_tcf, which stores ids of nonzeros instead: part of the schedules of its kernels.
#pragma once

#include <cstdint>

#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/schedule.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

/// Appends a mask of 16 bytes per tile, bit 8 * row + column. Returns the offset of the masks. O(nnz).
std::int64_t append_masks(Schedule& schedule, const formats::MeTcfView& a);

/// Reads what append_masks appended, and verifies that the set bits of each mask equal the nonzeros of
/// its tile in number.
/// Returns the offset of the masks.
std::int64_t read_masks(ScheduleReader& reader, const formats::MeTcfView& a);

}  // namespace sptile::runtime::cuda
