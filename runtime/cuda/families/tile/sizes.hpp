// How much of a multiprocessor the kernels of each height of tiles should take.
#pragma once

namespace sptile::runtime::cuda {

/// Registers that a thread of each kernel without stages may have, and warps on a multiprocessor for those
/// with: see DirectFamily and StagedFamily. Tiles of 8 rows.
struct Sizes8 {
  static constexpr int kSingle = 96, kF32x1 = 80, kF32x2 = 96, kF16x1 = 80, kF16x2 = 120, kF64x1 = 96,
                       kF64x2 = 128;
  static constexpr int kStagedWarps = 16, kWidestF32 = 2, kWidestWarps = 16;
};

/// Tiles of 16 rows: two of 8, one above the other, that share their B rows; these are loaded once for 16
/// rows of C.
struct Sizes16 {
  static constexpr int kSingle = 112, kF32x1 = 104, kF32x2 = 128, kF16x1 = 120, kF16x2 = 168, kF64x1 = 120,
                       kF64x2 = 168;
  static constexpr int kStagedWarps = 16, kWidestF32 = 4, kWidestWarps = 12;
};

}  // namespace sptile::runtime::cuda
