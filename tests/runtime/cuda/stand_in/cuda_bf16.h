// Stands in for the header of CUDA: conversions of bf16 numbers.
#pragma once

#include "formats/half.hpp"

struct __nv_bfloat16 {
  sptile::BFloat16 number;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float x) : number(sptile::to_bfloat16(x)) {}
};

inline float __bfloat162float(__nv_bfloat16 x) { return sptile::to_float(x.number); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.number.bits; }
