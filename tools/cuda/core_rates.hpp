// Throughput of tensor cores and CUDA cores that work at the same time (Libra, section 3.1, figure 4).
#pragma once

#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Times of two kernels with operands in registers: m16n8k8 products in tf32 on tensor cores, and f32 fused
/// multiply-adds on CUDA cores. In microseconds.
struct CoreRate {
  double ratio = 0;          ///< requested time of the CUDA cores over that of the tensor cores
  double tensor_us = 0;      ///< tensor cores only
  double cuda_us = 0;        ///< CUDA cores only
  double sequential_us = 0;  ///< one kernel after the other
  double concurrent_us = 0;  ///< one kernel whose warps do either
  double tensor_flops = 0, cuda_flops = 0;  ///< operations of each kind
};

/// Measures the first device for the ratios of the paper: 0.1, 1 and 5. Errc::device without a
/// device, Errc::unsupported without a kernel for it. Takes less than a second.
Result<std::vector<CoreRate>> measure_core_rates();

}  // namespace sptile::tools
