// Runs CUDA kernels on the host, so that their code is tested where there is no GPU. Include it before the
// kernels.
//
// Each lane of a warp is a fiber. Instructions that concern the whole warp (MMA, shuffles, votes) publish the
// lane's operand and wait until all 32 have; then each lane computes its own result from all operands. The
// MMAs follow the fragment layouts of the PTX ISA ("Matrix Fragments for mma.m16n8k8" and m8n8k4).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/cuda/ptx.cuh"
#include "runtime/cuda/start_kernel.cuh"

namespace sptile::test {

/// What a kernel asks about where it runs.
inline thread_local dim3 thread_index, block_index, block_size, grid_size;

/// 32 fibers that take turns.
class EmulatedWarp {
 public:
  static constexpr int kLanes = 32;
  static constexpr std::size_t kStackBytes = 256 * 1024;
  using Operand = std::array<std::uint32_t, 8>;

  static EmulatedWarp& current() { return *current_; }

  /// Lets lanes 0 to 31 begin with the body; lane i is thread first_thread + i of its block.
  void begin(unsigned first_thread, const std::function<void()>& body) {
    body_ = &body;
    first_thread_ = first_thread;
    for (int lane = 0; lane < kLanes; ++lane) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(lane)];
      if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
      fiber.done = false;
      fiber.published = 0;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = &scheduler_;
      makecontext(&fiber.context, reinterpret_cast<void (*)()>(start), 0);
    }
  }

  /// Lets each lane go on until it waits; false when all are done.
  bool step() {
    current_ = this;
    bool running = false;
    for (lane_ = 0; lane_ < kLanes; ++lane_) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(lane_)];
      if (fiber.done) continue;
      thread_index = dim3(first_thread_ + static_cast<unsigned>(lane_));
      swapcontext(&scheduler_, &fiber.context);
      running = true;
    }
    return running;
  }

  /// Lets other lanes, and other warps, go on.
  void yield() {
    const int me = lane_;
    swapcontext(&fibers_[static_cast<std::size_t>(me)].context, &scheduler_);
    lane_ = me;
  }

  [[nodiscard]] int lane() const { return lane_; }
  /// Publishes an operand, waits for the other lanes; gives everybody's. True convergence is checked: all
  /// lanes must have come to the same number of exchanges.
  const std::array<Operand, kLanes>& exchange(const Operand& mine) {
    Fiber& fiber = fibers_[static_cast<std::size_t>(lane_)];
    auto& all = operands_[fiber.published % 2];
    all[static_cast<std::size_t>(lane_)] = mine;
    ++fiber.published;
    const int me = lane_;
    swapcontext(&fiber.context, &scheduler_);
    for (const Fiber& other : fibers_)
      if (other.published < fiber.published || other.published > fiber.published + 1) diverged = true;
    lane_ = me;
    return all;
  }

  static inline bool diverged = false;  ///< some lanes met at different places

 private:
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done;
    unsigned published;
  };
  static void start() {
    (*current_->body_)();
    current_->fibers_[static_cast<std::size_t>(current_->lane_)].done = true;
  }

  static inline EmulatedWarp* current_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  std::array<Fiber, kLanes> fibers_;
  std::array<std::array<Operand, kLanes>, 2> operands_;
  ucontext_t scheduler_;
  int lane_ = 0;
  unsigned first_thread_ = 0;
};

/// Runs a kernel: every block, one after the other; its warps take turns.
inline void launch(dim3 blocks, unsigned threads, const std::function<void()>& kernel,
                   const std::function<void()>& before_block = {}) {
  std::vector<EmulatedWarp> warps(threads / EmulatedWarp::kLanes);
  block_size = dim3(threads);
  grid_size = blocks;
  for (unsigned b = 0; b < blocks.x * blocks.y * blocks.z; ++b) {
    block_index = dim3(b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y);
    if (before_block) before_block();
    unsigned first = 0;
    for (EmulatedWarp& warp : warps) {
      warp.begin(first, kernel);
      first += EmulatedWarp::kLanes;
    }
    for (bool running = true; running;) {
      running = false;
      for (EmulatedWarp& warp : warps) running = warp.step() || running;
    }
  }
}

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

}  // namespace sptile::test

// The words of CUDA C++ that the kernels use.
#undef __launch_bounds__
#undef __maxnreg__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define threadIdx ::sptile::test::thread_index
#define blockIdx ::sptile::test::block_index
#define blockDim ::sptile::test::block_size
#define gridDim ::sptile::test::grid_size
#undef __shared__
#define __shared__ static
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
void __stcs(T* to, T x) {
  *to = x;
}
template <class T>
void __stcg(T* to, T x) {
  *to = x;
}
inline std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float __uint_as_float(std::uint32_t x) { return std::bit_cast<float>(x); }
inline std::uint32_t __byte_perm(std::uint32_t x, std::uint32_t y, std::uint32_t select) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<std::uint32_t>(bytes >> 8 * (select >> 4 * i & 7u) & 0xffu) << 8 * i;
  return result;
}
/// Groups of `width` neighbours exchange among themselves.
template <class T>
T __shfl_sync(unsigned, T x, int from, int width = 32) {
  auto& warp = sptile::test::EmulatedWarp::current();
  const int first = warp.lane() / width * width;
  const auto& all = warp.exchange(sptile::test::as_operand(x));
  return sptile::test::from_operand<T>(all[static_cast<std::size_t>(first + (from & (width - 1)))]);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int lanes) {
  return __shfl_sync(mask, x, sptile::test::EmulatedWarp::current().lane() ^ lanes);
}
inline int __reduce_max_sync(unsigned, int x) {
  for (const auto& other : sptile::test::EmulatedWarp::current().exchange(sptile::test::as_operand(x)))
    x = max(x, sptile::test::from_operand<int>(other));
  return x;
}
inline bool __any_sync(unsigned, bool x) { return __reduce_max_sync(~0u, x ? 1 : 0) == 1; }
inline bool __all_sync(unsigned, bool x) { return !__any_sync(~0u, !x); }

namespace sptile::runtime::cuda {

inline std::uint32_t to_tf32(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isfinite(x)) bits += 0x0fffu + (bits >> 13 & 1u);
  return bits & 0xffffe000u;
}

/// What both operands of an MMA with k = 8 hold, as numbers: rows x k and k x columns.
struct EmulatedFactors {
  double a[16][8], b[8][8];

  void multiply(float (&acc)[4], int lane) const {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      double sum = acc[i];
      for (int k = 0; k < 8; ++k) sum += a[g + 8 * (i / 2)][k] * b[k][2 * t + i % 2];
      acc[i] = static_cast<float>(sum);
    }
  }
};

inline void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange({a[0], a[1], a[2], a[3], b[0], b[1]});
  const auto number = [](std::uint32_t bits) { return double{std::bit_cast<float>(bits & 0xffffe000u)}; };
  EmulatedFactors f{};
  for (int lane = 0; lane < 32; ++lane) {
    const auto& x = all[static_cast<std::size_t>(lane)];
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i)
      f.a[g + 8 * (i % 2)][t + 4 * (i / 2)] = number(x[static_cast<std::size_t>(i)]);
    for (int i = 0; i < 2; ++i) f.b[t + 4 * i][g] = number(x[static_cast<std::size_t>(4 + i)]);
  }
  f.multiply(acc, warp.lane());
}

template <class T>
void emulate_mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b) {
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange({a0, a1, b});
  const auto number = [](std::uint32_t word, int i) {
    return double{to_float(T{static_cast<std::uint16_t>(word >> 16 * i)})};
  };
  EmulatedFactors f{};
  for (int lane = 0; lane < 32; ++lane) {
    const auto& x = all[static_cast<std::size_t>(lane)];
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 2; ++i) {
      f.a[g][2 * t + i] = number(x[0], i);
      f.a[g + 8][2 * t + i] = number(x[1], i);
      f.b[2 * t + i][g] = number(x[2], i);
    }
  }
  f.multiply(acc, warp.lane());
}
inline void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, Half) {
  emulate_mma_half<Half>(acc, a0, a1, b);
}
inline void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, BFloat16) {
  emulate_mma_half<BFloat16>(acc, a0, a1, b);
}

inline void mma_f64(double (&acc)[2], double a, double b) {
  struct Both {
    double a, b;
  };
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange(test::as_operand(Both{a, b}));
  const int g = warp.lane() / 4, t = warp.lane() % 4;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k)
      acc[i] += test::from_operand<Both>(all[static_cast<std::size_t>(4 * g + k)]).a *
                test::from_operand<Both>(all[static_cast<std::size_t>(4 * (2 * t + i) + k)]).b;
}

}  // namespace sptile::runtime::cuda
