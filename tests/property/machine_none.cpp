// A build without kernels for CUDA.
#include "runtime/cuda/backend.hpp"
#include "tests/property/machine.hpp"

namespace sptile::test {

std::string_view device_backend() { return "cuda"; }

std::unique_ptr<Machine> make_device(bool, std::string& why_not) {
  why_not = runtime::cuda::find_device(0).error().message;
  return nullptr;
}

}  // namespace sptile::test
