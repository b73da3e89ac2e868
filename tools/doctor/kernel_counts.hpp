// Number of kernels per format and operation, number of runnable ones, and reasons for the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernels.hpp"

namespace sptile::tools::doctor {

struct KernelCount {
  runtime::Device device = runtime::Device::cpu;
  std::string_view format, op;
  int there = 0, run = 0;  ///< kernels of this build; those that this machine supports
};

/// Kernels that cannot run for the same reason.
struct Unavailable {
  runtime::Device device = runtime::Device::cpu;
  std::string why;
  int kernels = 0;
};

/// Counts the kernels of every device, format and operation that has any, in the order of the tables.
std::vector<KernelCount> count_kernels();

/// Groups the kernels that cannot run here by reason.
std::vector<Unavailable> why_unavailable(bool cuda_in_library);

}  // namespace sptile::tools::doctor
