// Real or emulated devices, accessed through CUDA functions.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/cuda/backend.hpp"
#include "tests/property/machine.hpp"

namespace sptile::test {

inline void require(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

class CudaMachine : public Machine {
 public:
  [[nodiscard]] std::string_view name() const override { return device_backend(); }
  [[nodiscard]] runtime::Device device() const override { return runtime::Device::cuda; }
  [[nodiscard]] int capability() const override { return runtime::cuda::find_device(0)->capability; }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    void* data = nullptr;
    require(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)));
    return {static_cast<std::byte*>(data), [](std::byte* memory) { cudaFree(memory); }};
  }
  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    if (from.empty()) return;
    require(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
    require(cudaDeviceSynchronize());  // the copy of pageable memory may be in flight
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    require(cudaDeviceSynchronize());
    if (!to.empty()) require(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
  }
};

}  // namespace sptile::test
