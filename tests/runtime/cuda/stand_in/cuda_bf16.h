// Stands in for the header of CUDA: conversions of bf16 numbers.
#pragma once

#include <cstdint>

#include "formats/core/half.hpp"

struct __nv_bfloat16 {
  std::uint16_t bits;  // no initialiser: like CUDA's own, this is a trivial type
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float x) : bits(sptile::to_bfloat16(x).bits) {}
};

inline float __bfloat162float(__nv_bfloat16 x) { return sptile::to_float(sptile::BFloat16{x.bits}); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
