#include "runtime/cuda/convert/cuda_run.cuh"
#include "runtime/cuda/convert/entries.hpp"
#include "runtime/cuda/convert/join.hpp"
#include "runtime/cuda/convert/transpose.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device_input.hpp"

namespace sptile::runtime::cuda {

Result<OwnedCsr> canonical_csr(const DeviceEntries& entries, const EntryOptions& options, void* stream) {
  return on_device(entries.ordinal, stream,
                   [&](CudaRun& run) { return canonical_on(run, entries, options); });
}

Result<OwnedCsr> join_csr(std::span<const DeviceEntries> parts, Arrangement arrangement,
                          const EntryOptions& options, void* stream) {
  const int ordinal = parts.empty() ? 0 : parts.front().ordinal;
  return on_device(ordinal, stream, [&](CudaRun& run) { return join_on(run, parts, arrangement, options); });
}

Status put_values(const OwnedCsr& a, const void* from, void* to, void* stream) {
  const CurrentDevice current(a.csr.ordinal);
  if (Status s = current.status(); !s) return s;
  CudaRun run(static_cast<cudaStream_t>(stream));
  put_values_on(run, a, from, to);
  return run.status();
}

Result<OwnedCsr> transpose_on_device(const DeviceCsr& a, bool with_positions, void* stream) {
  return on_device(a.ordinal, stream, [&](CudaRun& run) { return transpose_on(run, a, with_positions); });
}

Result<bool> equal_on_device(const DeviceCsr& a, const DeviceCsr& b, void* stream) {
  return on_device(a.ordinal, stream, [&](CudaRun& run) { return equal_on(run, a, b); });
}

}  // namespace sptile::runtime::cuda
