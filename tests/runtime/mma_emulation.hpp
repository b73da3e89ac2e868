// Emulation of tensor cores with the fragment layouts of the PTX ISA ("Matrix fragments for mma.m16n8k8",
// .tf32), for tests of lane mappings without a device.
#pragma once

#include <array>

namespace sptile::test {

inline constexpr int kLanes = 32;

/// Registers of all lanes of a warp: [lane][register].
template <int kRegisters>
using Fragment = std::array<std::array<double, kRegisters>, kLanes>;

/// Computes d += a * b for m16n8k8. With g = lane / 4 and t = lane % 4,
///
///   a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)   row, k
///   b: (t, g), (t + 4, g)                               k, column
///   d: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
inline void emulate_m16n8k8(Fragment<4>& d, const Fragment<4>& a, const Fragment<2>& b) {
  double rows[16][8], columns[8][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto at = static_cast<std::size_t>(lane);
    for (int i = 0; i < 4; ++i) rows[g + 8 * (i % 2)][t + 4 * (i / 2)] = a[at][static_cast<std::size_t>(i)];
    for (int i = 0; i < 2; ++i) columns[t + 4 * i][g] = b[at][static_cast<std::size_t>(i)];
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 8; ++k)
        d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] +=
            rows[g + 8 * (i / 2)][k] * columns[k][2 * t + i % 2];
  }
}

}  // namespace sptile::test
