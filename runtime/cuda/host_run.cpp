#include "runtime/cuda/run_timer.hpp"
#include "runtime/cuda/upload.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Bytes of an operand; the row stride counts for every row but the last.
std::size_t operand_bytes(std::int64_t rows, std::int64_t stride, const Plan& plan) {
  if (rows == 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + plan.n) * size_of(plan.kernel->dense);
}

/// A copy of an operand on the device.
Result<DeviceBuffer> copy_to_device(const void* from, std::size_t bytes, const char* name) {
  auto buffer = DeviceBuffer::allocate(bytes, name);
  if (!buffer) return buffer;
  Uploader uploader;
  Status s = uploader.copy(buffer->data(), from, bytes);
  if (s) s = uploader.finish();
  if (!s) return tl::unexpected(s.error());
  return buffer;
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
  auto b = copy_to_device(host.b, operand_bytes(plan.format.cols, host.ldb, plan), "B");
  if (!b) return tl::unexpected(b.error());
  auto c = copy_to_device(host.c, c_bytes, "C");
  if (!c) return tl::unexpected(c.error());
  SpmmOperands operands = host;
  operands.b = b->data();
  operands.c = c->data();
  return time_runs(plan, operands, warmup, repeat, host.c, *c, c_bytes);
}

Result<std::vector<double>> run_from_host(const Plan& plan, const SddmmOperands& host, int warmup,
                                          int repeat) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = check(current.status(), "choosing the device"); !s) return tl::unexpected(s.error());
  const std::size_t out_bytes = static_cast<std::size_t>(plan.format.nnz) * size_of(plan.kernel->dense);
  auto x = copy_to_device(host.x, operand_bytes(plan.format.rows, host.ldx, plan), "X");
  if (!x) return tl::unexpected(x.error());
  auto y = copy_to_device(host.y, operand_bytes(plan.format.cols, host.ldy, plan), "Y");
  if (!y) return tl::unexpected(y.error());
  auto out = copy_to_device(host.out, out_bytes, "the result");
  if (!out) return tl::unexpected(out.error());
  SddmmOperands operands = host;
  operands.x = x->data();
  operands.y = y->data();
  operands.out = out->data();
  return time_runs(plan, operands, warmup, repeat, host.out, *out, out_bytes);
}

}  // namespace sptile::runtime::cuda
