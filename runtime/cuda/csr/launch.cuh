// Launches of the csr kernel. Each .cu that includes this makes the instances it lists.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/csr/body.cuh"
#include "runtime/cuda/csr/csr.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::int64_t kMostSlicesInY = 65535;

template <class Value, class Dense>
CsrArguments<Value, Dense> arguments_of(const CsrArrays& arrays, const Launch& launch,
                                        const CsrGeometry& geometry) {
  using Acc = typename Accumulator<Dense>::Type;
  const auto& numbers = launch.host->numbers;
  CsrArguments<Value, Dense> a;
  a.row_ptr = arrays.row_ptr;
  a.columns = arrays.columns;
  a.values = static_cast<const Value*>(arrays.values);
  a.row_ids = arrays.row_ids;
  a.row_atomic = arrays.row_atomic;
  a.row_order = launch.row_order;
  a.runs = reinterpret_cast<const CsrRun*>(launch.schedule + numbers[kRunsOffset]);
  a.pieces = reinterpret_cast<const CsrPiece*>(launch.schedule + numbers[kPiecesOffset]);
  a.splits = reinterpret_cast<const CsrSplit*>(launch.schedule + numbers[kSplitsOffset]);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace);
  a.partials = reinterpret_cast<Acc*>(launch.workspace + numbers[kPartialsOffset]);
  a.piece_count = static_cast<int>(numbers[kPieces]);
  a.item_count = static_cast<int>(numbers[kPieces] + numbers[kRuns]);
  a.slices = static_cast<int>(geometry.slices);
  a.overlaps = launch.overlaps;
  a.b = static_cast<const Dense*>(launch.b);
  a.c = static_cast<Dense*>(launch.c);
  a.ldb = launch.ldb;
  a.ldc = launch.ldc;
  a.n = launch.n;
  a.alpha = static_cast<Acc>(launch.alpha);
  a.beta = static_cast<Acc>(launch.beta);
  return a;
}

/// True when every row of both operands can be read 16 bytes at a time.
template <class Dense>
bool is_aligned(const Launch& launch) {
  return whole_pieces(launch.b, launch.ldb, launch.n, sizeof(Dense)) &&
         whole_pieces(launch.c, launch.ldc, launch.n, sizeof(Dense));
}

template <class Value, class Dense, class Tuning, int kLanes, bool kAligned>
int launch_kernel(const CsrArrays& arrays, const Launch& launch, const CsrGeometry& geometry, void* stream) {
  const CsrArguments<Value, Dense> arguments = arguments_of<Value, Dense>(arrays, launch, geometry);
  if (arguments.item_count == 0) return cudaSuccess;
  constexpr int kThreads = Tuning::kThreads;
  constexpr std::int64_t kGroups = kThreads / kLanes;
  const std::int64_t y = std::min(geometry.slices, kMostSlicesInY);
  const dim3 grid(static_cast<unsigned>((arguments.item_count + kGroups - 1) / kGroups),
                  static_cast<unsigned>(y), static_cast<unsigned>((geometry.slices + y - 1) / y));
  return start_kernel<csr_spmm<Value, Dense, kLanes, kAligned, Tuning>>(
      {.blocks = grid, .threads = kThreads}, *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

template <class Value, class Dense, class Tuning, int kLanes>
int launch_lanes(const CsrArrays& arrays, const Launch& launch, const CsrGeometry& geometry, void* stream) {
  return is_aligned<Dense>(launch)
             ? launch_kernel<Value, Dense, Tuning, kLanes, true>(arrays, launch, geometry, stream)
             : launch_kernel<Value, Dense, Tuning, kLanes, false>(arrays, launch, geometry, stream);
}

/// Enqueues the kernel for some rows; none when there are none.
template <class Value, class Dense, class Tuning>
int launch_arrays(const CsrArrays& arrays, const Launch& launch, void* stream) {
  const CsrGeometry geometry{static_cast<int>(launch.host->numbers[kGridLanes]),
                             launch.host->numbers[kGridSlices]};
  if (geometry.lanes == 8) return launch_lanes<Value, Dense, Tuning, 8>(arrays, launch, geometry, stream);
  if (geometry.lanes == 16) return launch_lanes<Value, Dense, Tuning, 16>(arrays, launch, geometry, stream);
  return launch_lanes<Value, Dense, Tuning, 32>(arrays, launch, geometry, stream);
}

}  // namespace sptile::runtime::cuda
