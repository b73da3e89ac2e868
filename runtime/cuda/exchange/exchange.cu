#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/exchange/exchange_rows.cuh"

namespace sptile::runtime::cuda {
namespace {

constexpr int kThreads = 512;
/// Blocks that fill a link between two devices and leave most multiprocessors to a concurrent product.
constexpr std::int64_t kMaxBlocks = 24;
/// Bytes that are worth another block.
constexpr std::int64_t kBytesPerBlock = std::int64_t{1} << 15;

/// Operations on memory that devices share.
struct DeviceSystem {
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int threads() { return kThreads; }
  __device__ static int block() { return static_cast<int>(blockIdx.x); }
  __device__ static int blocks() { return static_cast<int>(gridDim.x); }
  __device__ static std::uint64_t nanoseconds() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
  }
  __device__ static void pause() { __nanosleep(100); }
  __device__ static std::uint64_t acquire(const std::uint64_t* word) {
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
  }
  __device__ static void release(std::uint64_t* word, std::uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  }
  __device__ static std::uint64_t load(const std::uint64_t* word) {
    return *static_cast<const volatile std::uint64_t*>(word);
  }
  __device__ static void store(std::uint64_t* word, std::uint64_t value) {
    *static_cast<volatile std::uint64_t*>(word) = value;
  }
  __device__ static bool is_set(const std::int32_t* fault) {
    return *static_cast<const volatile std::int32_t*>(fault) != 0;
  }
  __device__ static void report(std::int32_t* fault, std::int32_t value) {
    *static_cast<volatile std::int32_t*>(fault) = value;
    __threadfence_system();
  }
  /// Returns in all threads whether `here` is true in any; a barrier of the block.
  __device__ static bool any(bool here) { return __syncthreads_or(here) != 0; }
  /// Takes a ticket after all earlier writes of the block; returns whether it is the last of the grid.
  __device__ static bool last_block(std::uint64_t* tickets) {
    __threadfence_system();
    __syncthreads();
    __shared__ bool last;
    if (threadIdx.x == 0) {
      last = atomicAdd(reinterpret_cast<unsigned long long*>(tickets), 1ull) == gridDim.x - 1;
      __threadfence_system();
    }
    __syncthreads();
    return last;
  }
};

template <class Piece>
__global__ void __launch_bounds__(kThreads) exchange_kernel(const RowExchange e, const int lanes) {
  exchange_block<Piece>(e, lanes, DeviceSystem{});
}

template <class Piece>
cudaError_t launch(const RowExchange& e, unsigned blocks, cudaStream_t stream) {
  const std::int64_t pieces = e.row_bytes / std::int64_t{sizeof(Piece)};
  int lanes = 1;
  while (lanes < 32 && lanes < pieces) lanes *= 2;
  exchange_kernel<Piece><<<blocks, kThreads, 0, stream>>>(e, lanes);
  return cudaGetLastError();
}

/// Returns the number of bytes, 2 to 16, that divides rows and their distance and aligns the source.
std::int64_t piece_bytes(const RowExchange& e) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(e.source) % 16);
  return std::gcd(std::gcd(e.row_bytes, e.stride_bytes), std::gcd(address, std::int64_t{16}));
}

}  // namespace

Status exchange_rows(const RowExchange& e, void* stream) {
  const CurrentDevice current(e.ordinal);
  if (!current.status()) return current.status();
  if (e.peer_count == 0) return {};
  const std::int64_t most = e.blocks > 0 ? e.blocks : kMaxBlocks;
  const std::int64_t useful = 1 + e.row_count * e.row_bytes / kBytesPerBlock;
  const unsigned blocks = e.stop ? 1 : static_cast<unsigned>(std::min(most, useful));
  auto* const on = static_cast<cudaStream_t>(stream);
  const std::int64_t bytes = piece_bytes(e);
  const cudaError_t code = bytes == 16  ? launch<uint4>(e, blocks, on)
                           : bytes == 8 ? launch<uint2>(e, blocks, on)
                           : bytes == 4 ? launch<std::uint32_t>(e, blocks, on)
                                        : launch<std::uint16_t>(e, blocks, on);
  return check(code, "the exchange of rows cannot start");
}

Status order_streams(int ordinal, void* first, void* second, void* event) {
  const CurrentDevice current(ordinal);
  if (!current.status()) return current.status();
  auto* const mark = static_cast<cudaEvent_t>(event);
  if (Status s = check(cudaEventRecord(mark, static_cast<cudaStream_t>(first)), "cudaEventRecord"); !s)
    return s;
  return check(cudaStreamWaitEvent(static_cast<cudaStream_t>(second), mark, 0), "cudaStreamWaitEvent");
}

}  // namespace sptile::runtime::cuda
