#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/plan.hpp"
#include "runtime/cuda/device/run_timer.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Bytes of an operand; the row stride counts for every row but the last.
std::size_t operand_bytes(std::int64_t rows, std::int64_t stride, const Plan& plan) {
  if (rows == 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + plan.n) * size_of(plan.kernel->dense);
}

struct HostOperand {
  const void* data;
  std::size_t bytes;
  const char* name;
};

/// Copies operands to the device. Waits for them; other threads can upload then.
Result<std::vector<DeviceBuffer>> copy_to_device(std::initializer_list<HostOperand> operands) {
  std::vector<DeviceBuffer> buffers;
  Uploader uploader;
  for (const HostOperand& from : operands) {
    auto buffer = DeviceBuffer::allocate(from.bytes, from.name);
    if (!buffer) return tl::unexpected(buffer.error());
    buffers.push_back(std::move(*buffer));
    if (Status s = uploader.copy(buffers.back().data(), from.data, from.bytes); !s)
      return tl::unexpected(s.error());
  }
  if (Status s = uploader.finish(); !s) return tl::unexpected(s.error());
  return buffers;
}

/// Runs and times, and fetches the result.
template <class Operands>
Result<std::vector<double>> time_runs(const Plan& plan, const Operands& operands, int warmup, int repeat,
                                      void* result, const DeviceBuffer& on_device, std::size_t bytes) {
  RunTimer timer;
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const Result<double> one = timer.seconds(plan, operands);
    if (!one) return tl::unexpected(one.error());
    if (i >= 0) seconds.push_back(*one);
  }
  if (Status s =
          check(cudaMemcpy(result, on_device.data(), bytes, cudaMemcpyDeviceToHost), "fetching the result");
      !s)
    return tl::unexpected(s.error());
  return seconds;
}

}  // namespace

Result<std::vector<double>> run_from_host(const Plan& plan, const SpmmOperands& host, int warmup,
                                          int repeat) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = check(current.status(), "choosing the device"); !s) return tl::unexpected(s.error());
  const std::size_t c_bytes = operand_bytes(plan.format.rows, host.ldc, plan);
  const auto copies = copy_to_device(
      {{host.b, operand_bytes(plan.format.cols, host.ldb, plan), "B"}, {host.c, c_bytes, "C"}});
  if (!copies) return tl::unexpected(copies.error());
  const DeviceBuffer &b = (*copies)[0], &c = (*copies)[1];
  SpmmOperands operands = host;
  operands.b = b.data();
  operands.c = c.data();
  return time_runs(plan, operands, warmup, repeat, host.c, c, c_bytes);
}

Result<std::vector<double>> run_from_host(const Plan& plan, const SddmmOperands& host, int warmup,
                                          int repeat) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = check(current.status(), "choosing the device"); !s) return tl::unexpected(s.error());
  const std::size_t out_bytes = static_cast<std::size_t>(plan.format.nnz) * size_of(plan.kernel->dense);
  const auto copies = copy_to_device({{host.x, operand_bytes(plan.format.rows, host.ldx, plan), "X"},
                                      {host.y, operand_bytes(plan.format.cols, host.ldy, plan), "Y"},
                                      {host.out, out_bytes, "the result"}});
  if (!copies) return tl::unexpected(copies.error());
  const DeviceBuffer &x = (*copies)[0], &y = (*copies)[1], &out = (*copies)[2];
  SddmmOperands operands = host;
  operands.x = x.data();
  operands.y = y.data();
  operands.out = out.data();
  return time_runs(plan, operands, warmup, repeat, host.out, out, out_bytes);
}

}  // namespace sptile::runtime::cuda
