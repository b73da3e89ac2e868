// Stands in for the header of CUDA: conversions of 16-bit numbers.
#pragma once

#include "formats/half.hpp"

struct __half {
  sptile::Half number;
  __half() = default;
  explicit __half(float x) : number(sptile::to_half(x)) {}
  explicit __half(sptile::Half x) : number(x) {}
};

inline float __half2float(__half x) { return sptile::to_float(x.number); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __ushort_as_half(unsigned short bits) { return __half(sptile::Half{bits}); }
inline unsigned short __half_as_ushort(__half x) { return x.number.bits; }
