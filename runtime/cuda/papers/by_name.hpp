// Common properties of the paper kernels, most of which are for SpMM: they run only by name.
#pragma once

#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cuda/built.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {

constexpr Kernel by_name(std::string_view name, std::string_view format, std::string_view summary,
                         Instances instances, const Operation& op = kSpmm) {
  return {.name = name,
          .op = &op,
          .format = format,
          .device = Device::cuda,
          .isa = "sm_80",
          .summary = summary,
          .by_name = true,
          .instances = instances};
}

}  // namespace sptile::runtime::cuda
