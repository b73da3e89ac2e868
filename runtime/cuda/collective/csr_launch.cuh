// Launches of the csr kernel. Each .cu file that includes this instantiates its kernels.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/csr_rows.cuh"
#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"

namespace sptile::runtime::cuda {

/// Returns the shape of the grid for the columns of a launch.
template <class Dense>
CsrGeometry geometry_of(const Launch& launch) {
  return csr_geometry(launch.n, 16 / static_cast<int>(sizeof(Dense)));
}

template <class Arguments>
Arguments arguments_of(const CsrArrays& arrays, const CsrHeader& header, const Launch& launch) {
  using Acc = typename Arguments::Acc;
  using Dense = typename Arguments::Dense;
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  Arguments a;
  a.row_ptr = arrays.row_ptr;
  a.columns = arrays.columns;
  a.values = static_cast<const typename Arguments::Value*>(arrays.values);
  a.row_ids = arrays.row_ids;
  a.row_order = launch.row_order;
  a.runs = launch.part<CsrRun>(header.runs_at);
  a.pieces = launch.part<CsrPiece>(header.pieces_at);
  a.splits = launch.part<CsrSplit>(header.splits_at);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  a.partials = reinterpret_cast<Acc*>(launch.workspace + header.scratch.partials_at);
  a.piece_count = static_cast<int>(header.pieces);
  a.item_count = static_cast<int>(header.items());
  a.heads = Arguments::Heads::of(launch);
  a.slices = static_cast<int>(geometry_of<Dense>(launch).slices);
  a.overlaps = arrays.overlaps;
  a.b = static_cast<const Dense*>(b.data);
  a.c = static_cast<typename Arguments::Result*>(c.data);
  a.ldb = b.ld;
  a.b_bytes = static_cast<std::uint32_t>(b.ld * static_cast<std::int64_t>(sizeof(Dense)));
  a.ldc = c.ld;
  a.n = launch.n;
  a.alpha = static_cast<Acc>(launch.operands.alpha);
  a.beta = static_cast<Acc>(launch.operands.beta);
  return a;
}

/// Returns whether all rows of both operands can be loaded in units of 16 bytes, those of B with a short
/// stride.
template <class Dense, class Result>
bool is_aligned(const Launch& launch) {
  return whole_pieces(launch.operands.dense[kSpmmB], launch.n, sizeof(Dense)) &&
         whole_pieces(launch.operands.dense[kSpmmC], launch.n, sizeof(Result)) &&
         short_stride(launch.operands.dense[kSpmmB], sizeof(Dense));
}

template <class Tuning, int kLanes, bool kAligned, class Arguments>
int launch_kernel(const Arguments& arguments, const Launch& launch, void* stream) {
  if (arguments.item_count == 0) return cudaSuccess;
  constexpr int kThreads = Tuning::kThreads;
  constexpr std::int64_t kGroups = kThreads / kLanes;
  const dim3 grid =
      sliced_grid((arguments.item_count + kGroups - 1) / kGroups, arguments.slices, arguments.heads.count);
  return start_kernel<csr_spmm<Arguments, kLanes, kAligned, Tuning>>(
      {.blocks = grid, .threads = kThreads}, *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

template <class Tuning, int kLanes, class Arguments>
int launch_lanes(const Arguments& arguments, const Launch& launch, void* stream) {
  return is_aligned<typename Arguments::Dense, typename Arguments::Result>(launch)
             ? launch_kernel<Tuning, kLanes, true>(arguments, launch, stream)
             : launch_kernel<Tuning, kLanes, false>(arguments, launch, stream);
}

/// Enqueues the kernel for some rows; does nothing without rows.
template <class Tuning, class Arguments>
int launch_arguments(const Arguments& arguments, const Launch& launch, void* stream) {
  const int lanes = geometry_of<typename Arguments::Dense>(launch).lanes;
  if (lanes == 8) return launch_lanes<Tuning, 8>(arguments, launch, stream);
  if (lanes == 16) return launch_lanes<Tuning, 16>(arguments, launch, stream);
  return launch_lanes<Tuning, 32>(arguments, launch, stream);
}

}  // namespace sptile::runtime::cuda
