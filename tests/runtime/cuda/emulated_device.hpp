// Runs CUDA kernels on the host, so that their code is tested without a GPU and without CUDA. Include it
// before the kernels.
//
// Each lane of a warp is a fiber. Warp-wide instructions (MMA, shuffles, votes) publish the lane's operand
// and wait until all 32 have done so; then each lane computes its result from all operands. The MMAs use the
// fragment layouts of the PTX ISA ("Matrix Fragments for mma.m16n8k8" and m8n8k4).
//
// Kernels are compiled without optimization, which would take minutes; shared code here and in
// emulated_device.cpp is optimized.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "tests/runtime/cuda/emulated_order.hpp"
#include "tests/runtime/cuda/fiber.hpp"

namespace sptile::test {

/// Built-in variables of the running thread.
inline dim3 thread_index, block_index, block_size, grid_size;

/// Operands of an MMA with k = 8 as numbers: rows x k and k x columns.
struct EmulatedFactors {
  double a[16][8], b[8][8];
  unsigned round = 0;  ///< the exchange to which they belong
};

/// 32 fibers that run in turns.
class EmulatedWarp {
 public:
  static constexpr std::size_t kLanes = 32;
  using Operand = std::array<std::uint32_t, 8>;
  using Operands = std::array<Operand, kLanes>;

  EmulatedWarp();
  static EmulatedWarp& current() { return *current_; }

  /// Starts the body in lanes 0 to 31; lane i is thread first_thread + i of its block.
  void begin(unsigned first_thread, const std::function<void()>& body);
  /// Resumes each lane until it waits. Returns false if all have finished.
  bool step();

  /// Lets other lanes and warps run.
  void yield();
  [[nodiscard]] int lane() const { return static_cast<int>(lane_); }
  /// Returns the threads of the block that the warp's running lanes represent.
  [[nodiscard]] std::vector<unsigned> threads() const;
  /// Publishes an operand, waits for the other lanes, and returns those of all lanes. Lane 0 resumes first.
  /// Checks convergence: all lanes must have made the same number of exchanges.
  const Operands& exchange(const Operand& mine);
  /// Storage for results that the first resumed lane of an exchange, usually lane 0, computes for all lanes.
  EmulatedFactors& factors() { return factors_; }
  /// Returns true for the first resumed lane.
  [[nodiscard]] bool comes_first() {
    return std::exchange(factors_.round, published_[lane_]) != published_[lane_];
  }

  static inline bool diverged = false;  ///< lanes met at different positions

 private:
  static void run_lane();
  [[nodiscard]] std::size_t next_lane(std::size_t from) const;
  Fiber& enter(std::size_t lane);

  static inline EmulatedWarp* current_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  std::vector<Fiber> lanes_;
  std::array<bool, kLanes> done_{};
  std::array<unsigned, kLanes> published_{};
  std::array<Operands, 2> operands_{};
  EmulatedFactors factors_{};
  Fiber scheduler_;
  std::size_t lane_ = 0;
  unsigned first_thread_ = 0;
};

/// Runs a kernel block by block; the warps of a block run in turns. Rethrows exceptions of the kernel.
void launch(dim3 blocks, unsigned threads, const std::function<void()>& kernel,
            const std::function<void()>& before_block = {});

template <class T>
EmulatedWarp::Operand as_operand(const T& x) {
  static_assert(sizeof(T) <= sizeof(EmulatedWarp::Operand));
  EmulatedWarp::Operand words{};
  std::memcpy(words.data(), &x, sizeof x);
  return words;
}
template <class T>
T from_operand(const EmulatedWarp::Operand& words) {
  T x;
  std::memcpy(&x, words.data(), sizeof x);
  return x;
}

/// Returns the operand of lane `from` within groups of `width` lanes.
const EmulatedWarp::Operand& shuffled(const EmulatedWarp::Operand& mine, int from, int width);

}  // namespace sptile::test

// Keywords and functions of CUDA C++ that the kernels use.
#define threadIdx ::sptile::test::thread_index
#define blockIdx ::sptile::test::block_index
#define blockDim ::sptile::test::block_size
#define gridDim ::sptile::test::grid_size
using std::max;
using std::min;

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  sptile::test::memory_order.load(from);
  return *from;
}
template <class T>
void __stcs(T* to, T x) {
  *to = x;
}
template <class T>
void __stcg(T* to, T x) {
  sptile::test::memory_order.store(to);
  *to = x;
}
template <class T>
void __stwt(T* to, T x) {
  *to = x;
}
inline std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float __uint_as_float(std::uint32_t x) { return std::bit_cast<float>(x); }
std::uint32_t __byte_perm(std::uint32_t x, std::uint32_t y, std::uint32_t select);

/// Shuffles within groups of `width` lanes.
template <class T>
T __shfl_sync(unsigned, T x, int from, int width = 32) {
  return sptile::test::from_operand<T>(sptile::test::shuffled(sptile::test::as_operand(x), from, width));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int lanes) {
  return __shfl_sync(mask, x, sptile::test::EmulatedWarp::current().lane() ^ lanes);
}
void __syncwarp();
void __syncthreads();
int __reduce_max_sync(unsigned mask, int x);
inline bool __any_sync(unsigned, bool x) { return __reduce_max_sync(~0u, x ? 1 : 0) == 1; }
unsigned __ballot_sync(unsigned mask, bool x);
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline bool __all_sync(unsigned, bool x) { return !__any_sync(~0u, !x); }
