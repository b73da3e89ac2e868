// Timed runs on scratch operands.
#include <algorithm>

#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/run_timer.hpp"

namespace sptile::runtime::cuda {

Result<std::shared_ptr<std::byte>> make_scratch(int ordinal, std::span<const std::byte> pattern,
                                                std::size_t bytes) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  auto buffer = DeviceBuffer::allocate(bytes, "operands of a measurement");
  if (!buffer) return tl::unexpected(buffer.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*buffer));
  std::byte* const to = owner->data();
  std::size_t filled = std::min(pattern.size(), bytes);
  Status s = check(cudaMemcpy(to, pattern.data(), filled, cudaMemcpyHostToDevice), "filling operands");
  for (; s && filled < bytes; filled += std::min(filled, bytes - filled))
    s = check(cudaMemcpy(to + filled, to, std::min(filled, bytes - filled), cudaMemcpyDeviceToDevice),
              "filling operands");
  if (!s) return tl::unexpected(s.error());
  return std::shared_ptr<std::byte>(owner, to);
}

Result<std::vector<double>> time_groups(const Plan& plan, const Operands& operands, int groups, int runs) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  RunTimer timer;
  std::vector<double> seconds;
  for (int i = 0; i < groups; ++i) {
    const Result<double> one = timer.seconds(plan, operands, runs);
    if (!one) return tl::unexpected(one.error());
    seconds.push_back(*one);
  }
  return seconds;
}

}  // namespace sptile::runtime::cuda
