#include <utility>
#include <vector>

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/plan.hpp"
#include "runtime/cuda/device/run_timer.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Returns the bytes of an operand of n columns. The row stride does not apply to the last row, nor the head
/// stride to the last head.
std::size_t operand_bytes(const Plan& plan, const OperandSpec& spec, const Operand& operand, std::int64_t n) {
  const OperandSizes sizes = sizes_of(plan, n);
  const OperandShape shape = shape_of(spec, sizes);
  const std::int64_t stride = spec.extent == Extent::entries ? 1 : operand.ld;
  if (shape.rows == 0 || operand.data == nullptr) return 0;
  const std::int64_t before = (sizes.run.heads - 1) * batch_of(spec, operand, sizes);
  return static_cast<std::size_t>(before + (shape.rows - 1) * stride + shape.width) *
         size_of(type_of(spec, types_of(*plan.kernel)));
}

/// Operands on the device.
struct DeviceOperands {
  Operands operands;
  std::vector<DeviceBuffer> buffers;
};

/// Copies operands to the device and waits, after which other threads can upload.
Result<DeviceOperands> copy_to_device(const Plan& plan, const Operands& host) {
  DeviceOperands copied{host, {}};
  Uploader uploader;
  for (std::size_t i = 0; i < plan.op->operands.size(); ++i) {
    const OperandSpec& spec = plan.op->operands[i];
    const Operand& from = host.dense[i];
    const std::size_t bytes = operand_bytes(plan, spec, from, columns_of(plan, host));
    auto buffer = DeviceBuffer::allocate(bytes, spec.name.data());
    if (!buffer) return tl::unexpected(buffer.error());
    if (Status s = uploader.copy(buffer->data(), from.data, bytes); !s) return tl::unexpected(s.error());
    if (Status s = uploader.send(); !s) return tl::unexpected(s.error());
    copied.operands.dense[i].data = from.data != nullptr ? buffer->data() : nullptr;
    copied.buffers.push_back(std::move(*buffer));
  }
  if (Status s = uploader.finish(); !s) return tl::unexpected(s.error());
  return copied;
}

/// Copies results back. Padding between rows is unchanged, because it was copied to the device too.
Status fetch_results(const Plan& plan, const Operands& host, const DeviceOperands& copied) {
  for (std::size_t i = 0; i < plan.op->operands.size(); ++i) {
    const OperandSpec& spec = plan.op->operands[i];
    if (!spec.result) continue;
    const std::size_t bytes = operand_bytes(plan, spec, host.dense[i], columns_of(plan, host));
    const cudaError_t code =
        cudaMemcpy(host.dense[i].data, copied.buffers[i].data(), bytes, cudaMemcpyDeviceToHost);
    if (Status s = check(code, "fetching the result"); !s) return s;
  }
  return {};
}

}  // namespace

Result<std::vector<double>> run_from_host(const Plan& plan, const Operands& host, int warmup, int repeat) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  const auto copied = copy_to_device(plan, host);
  if (!copied) return tl::unexpected(copied.error());
  RunTimer timer;
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const Result<double> one = timer.seconds(plan, copied->operands);
    if (!one) return tl::unexpected(one.error());
    if (i >= 0) seconds.push_back(*one);
  }
  if (Status s = fetch_results(plan, host, *copied); !s) return tl::unexpected(s.error());
  return seconds;
}

}  // namespace sptile::runtime::cuda
