// Division of SDDMM among warps, made on the host when planning. Plain C++.
//
// Every entry has its own result, so nothing is ever added up between warps: windows are cut in items of
// about equally many tiles, and entries in rows are cut in runs of equally many entries, wherever rows end
// (RoDe, PPoPP 2024, section 4.1, cuts rows into segments of 32; here short rows share a run, too).
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Some tiles of one window: the work of one warp.
struct alignas(8) SampleItem {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t row;  ///< first of the window
  std::int32_t unused = 0;
};
static_assert(sizeof(SampleItem) == 24);

/// Places of the numbers in Schedule::numbers. `..._at` are byte offsets in Schedule::bytes.
enum SampleNumber {
  kSampleItemsAt,
  kSampleItemCount,
  kSampleMasksAt,      ///< 16-byte masks made for me_tcf; -1: the format's own
  kSampleRowOffsetAt,  ///< made for the residual rows of rs_tile; -1: the format's own
  kSampleFirstRowAt,
  kSampleRuns,
  kSampleRounds,
};

using SampleScheduler = Schedule (*)(const formats::FormatView& format,
                                     std::span<const std::int32_t> row_order, std::int64_t n,
                                     const DeviceInfo& device);

/// O(runs log rows), O(windows + items); me_tcf O(nnz) for its masks.
Schedule sample_csr(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                    const DeviceInfo&);
Schedule sample_bittcf(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                       const DeviceInfo&);
Schedule sample_me_tcf(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                       const DeviceInfo&);
Schedule sample_bmat(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                     const DeviceInfo&);
Schedule sample_rs_tile(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                        const DeviceInfo&);
Schedule sample_libra(const formats::FormatView&, std::span<const std::int32_t>, std::int64_t,
                      const DeviceInfo&);

}  // namespace sptile::runtime::cuda
