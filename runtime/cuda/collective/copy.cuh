// Copies from global to shared memory, element by element where 16 bytes at a time are not possible, and
// typed loads of shared memory. The instructions are in device/ptx.cuh. Argument order is destination,
// source, size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Copies an element of 2, 4 or 8 bytes: asynchronously, except that 2 bytes are loaded and stored.
template <int kBytes>
__device__ __forceinline__ void copy_number(std::uint32_t to, const std::byte* from) {
  if constexpr (kBytes == 2)
    store_half(to, __ldg(reinterpret_cast<const unsigned short*>(from)));
  else
    copy_element<kBytes>(to, from);
}

/// Copies the first `bytes` of 16 bytes, at most all, asynchronously. Elements have kElement bytes; a last
/// element of 2 bytes is stored synchronously, and other lanes read it only after the next __syncwarp().
template <int kElement>
__device__ __forceinline__ void copy_up_to_16(std::uint32_t to, const std::byte* from, int bytes) {
  if (bytes >= 16) return copy_if<16>(true, to, from);
  int at = 0;
#pragma unroll 1
  for (; at + 4 <= bytes; at += 4) copy_if<4>(true, to + static_cast<std::uint32_t>(at), from + at);
  if constexpr (kElement == 2)
    if (at < bytes) copy_number<2>(to + static_cast<std::uint32_t>(at), from + at);
}

/// Loads an element of 2, 4, 8 or 16 bytes from shared memory if `there`, else returns zero.
template <class T>
__device__ __forceinline__ T shared_element_if(std::uint32_t at, bool there) {
  T x{};
  if constexpr (sizeof(T) == 2) {
    const auto bits = static_cast<std::uint16_t>(there ? shared_half(at) : 0u);
    std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
  } else if constexpr (sizeof(T) == 4) {
    const std::uint32_t bits = there ? shared_word(at) : 0u;
    std::memcpy(&x, &bits, sizeof x);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 bits = there ? shared_pair(at) : uint2{0u, 0u};
    std::memcpy(&x, &bits, sizeof x);
  } else {
    const uint4 bits = there ? shared_piece(at) : uint4{0u, 0u, 0u, 0u};
    std::memcpy(&x, &bits, sizeof x);
  }
  return x;
}

}  // namespace sptile::runtime::cuda
