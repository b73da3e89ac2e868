#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/families/families.hpp"

namespace sptile::runtime::cuda {

std::span<const DeviceKernel> instances_named(std::string_view kernel) {
  for (const Family family : families())
    for (const Kernel& row : family())
      if (row.name == kernel && row.instances != nullptr) return row.instances();
  return {};
}

}  // namespace sptile::runtime::cuda
