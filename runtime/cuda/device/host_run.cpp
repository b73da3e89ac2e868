#include <utility>
#include <vector>

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/plan.hpp"
#include "runtime/cuda/device/run_timer.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Bytes of an operand of n columns; the row stride counts for every row but the last.
std::size_t operand_bytes(const Plan& plan, const OperandSpec& spec, const Operand& operand, std::int64_t n) {
  const formats::FormatView& a = plan.matrix->view;
  const std::int64_t rows = extent_of(spec, a.rows, a.cols, a.nnz);
  const std::int64_t width = width_of(spec, n);
  const std::int64_t stride = spec.extent == Extent::entries ? 1 : operand.ld;
  if (rows == 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + width) *
         size_of(type_of(spec, types_of(*plan.kernel)));
}

/// Operands on the device.
struct DeviceOperands {
  Operands operands;
  std::vector<DeviceBuffer> buffers;
};

/// Copies operands to the device. Waits for them; other threads can upload then.
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
    copied.operands.dense[i].data = buffer->data();
    copied.buffers.push_back(std::move(*buffer));
  }
  if (Status s = uploader.finish(); !s) return tl::unexpected(s.error());
  return copied;
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
  const std::size_t last = plan.op->operands.size() - 1;
  const std::size_t bytes = operand_bytes(plan, plan.op->result(), host.dense[last], columns_of(plan, host));
  const cudaError_t code =
      cudaMemcpy(host.dense[last].data, copied->buffers[last].data(), bytes, cudaMemcpyDeviceToHost);
  if (Status s = check(code, "fetching the result"); !s) return tl::unexpected(s.error());
  return seconds;
}

}  // namespace sptile::runtime::cuda
