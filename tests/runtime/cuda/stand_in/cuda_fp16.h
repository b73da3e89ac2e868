// Stands in for the header of CUDA: conversions of 16-bit numbers.
#pragma once

#include <cstdint>

#include "formats/core/half.hpp"

struct __half {
  std::uint16_t bits;  // no initialiser: like CUDA's own, this is a trivial type
  __half() = default;
  explicit __half(float x) : __half(sptile::to_half(x)) {}
  explicit __half(sptile::Half x) : bits(x.bits) {}
};

inline float __half2float(__half x) { return sptile::to_float(sptile::Half{x.bits}); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __ushort_as_half(unsigned short bits) { return __half(sptile::Half{bits}); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
