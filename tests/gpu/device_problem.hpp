// Products on a device for tests: memory, a run, and the error relative to the double reference.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/error_bound.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

inline void require(cudaError_t code) { REQUIRE_MESSAGE(code == cudaSuccess, cudaGetErrorString(code)); }

/// Device memory, optionally with a copy of host bytes.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : bytes_(bytes) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), bytes + 1));
  }
  DeviceBytes(const void* from, std::size_t bytes) : DeviceBytes(bytes) {
    require(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
    require(cudaDeviceSynchronize());  // a copy of pageable memory may be in flight
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  [[nodiscard]] std::byte* get() const { return data_; }
  [[nodiscard]] std::vector<std::byte> to_host() const {
    std::vector<std::byte> host(bytes_);
    require(cudaMemcpy(host.data(), data_, bytes_, cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Returns the kernel of an instance.
inline const runtime::Kernel& kernel_of(const runtime::cuda::DeviceKernel& row) {
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.name == row.kernel) return kernel;
  FAIL("no such kernel: " << row.kernel);
  std::abort();
}

/// A captured graph that can be launched.
struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ~Graph() {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
};

/// Returns the instances of an operation that this device can run, filtered by the substring in the
/// environment variable SPTILE_GPU_TEST_KERNEL, such as "tall".
inline std::vector<runtime::cuda::DeviceKernel> runnable_kernels(
    const runtime::Operation& op = runtime::kSpmm) {
  const auto device = runtime::cuda::find_device(0);
  const char* const wanted = std::getenv("SPTILE_GPU_TEST_KERNEL");
  std::vector<runtime::cuda::DeviceKernel> rows;
  for (const runtime::Kernel& kernel : runtime::kernels()) {
    if (kernel.op != &op || (wanted != nullptr && kernel.name.find(wanted) == std::string_view::npos))
      continue;
    if (kernel.undefined_result) {
      MESSAGE("left out: the results of " << kernel.name << " are undefined");
      continue;
    }
    for (const auto& row : runtime::instances_of(kernel))
      if (runs_on(row, device->capability)) rows.push_back(row);
  }
  return rows;
}

/// Returns whether an instance supports n columns per head, `heads` heads, and a matrix with `cols` columns.
inline bool supports(const runtime::cuda::DeviceKernel& row, std::int64_t n, std::int64_t heads = 1,
                     std::int64_t cols = 1) {
  runtime::Variant variant;
  variant.heads = heads;
  return row.check == nullptr || row.check({cols, n, variant, *runtime::cuda::find_device(0)}).has_value();
}

/// Returns n, or one or 128 columns if the instance does not support n.
inline std::int64_t columns_for(const runtime::cuda::DeviceKernel& row, std::int64_t n) {
  return supports(row, n) ? n : supports(row, 1) ? 1 : 128;
}

/// Returns `cols`, or 1000 if the instance does not support it.
inline std::int64_t cols_for(const runtime::cuda::DeviceKernel& row, std::int64_t n, std::int64_t cols) {
  return supports(row, n, 1, cols) ? cols : 1000;
}

/// Returns the format in the middle of a kernel's name.
inline std::string format_of(std::string_view kernel) {
  const std::size_t begin = kernel.find('.') + 1;
  return std::string(kernel.substr(begin, kernel.find('.', begin) - begin));
}

inline std::string label(const runtime::cuda::DeviceKernel& row) {
  return std::string(row.kernel) + " " + std::string(name_of(row.values)) + " x " +
         std::string(name_of(row.dense)) + " to " + std::string(name_of(types_of(row).result)) +
         " precision " + std::to_string(static_cast<int>(row.precision));
}

inline runtime::PlanOptions options_for(const runtime::cuda::DeviceKernel& row, std::int64_t n) {
  runtime::PlanOptions options;
  options.n = n;
  options.dense = row.dense;
  options.result = row.result;
  options.device = runtime::Device::cuda;
  options.kernel = row.kernel;
  if (row.dense == DType::f32) options.precision = row.precision;
  return options;
}

/// Returns the maximum relative error of a result in the Frobenius norm.
inline double frobenius_bound(runtime::Precision precision, const runtime::DenseTypes& types) {
  using runtime::Precision;
  if (types.result != types.operands) return 5e-5;  // truncated sums of tensor cores
  const DType dense = types.operands;
  if (dense == DType::bf16 || precision == Precision::bf16) return 1.6e-2;
  if (dense == DType::f16 || precision == Precision::fp16) return 2e-3;
  if (precision == Precision::tf32) return 3.5e-4;
  return precision == Precision::fp32 ? 2e-6 : 1e-14;
}

/// Returns ||computed - reference|| / ||reference||, where the reference has double operands, sums and
/// result.
inline double frobenius_error(const formats::Csr& a, const Dense& dense, const std::byte* computed,
                              double alpha, double beta) {
  const formats::Array b = formats::convert_values(dense.b.view(), DType::f64);
  formats::Array exact = formats::convert_values(dense.c.view(), DType::f64);
  runtime::reference_spmm(a.view(), dense.n, DType::f64,
                          {b.data(), dense.ldb, exact.data(), dense.ldc, alpha, beta});
  const formats::Array result =
      formats::convert_values(ArrayView(dense.types.result, computed, dense.c.size()), DType::f64);
  double difference = 0, norm = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t j = 0; j < dense.n; ++j) {
      const auto at = static_cast<std::size_t>(r * dense.ldc + j);
      const double x = exact.as<double>()[at], d = result.as<double>()[at] - x;
      difference += d * d;
      norm += x * x;
    }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

/// Returns whether two results of a kernel are equal: bit by bit, or approximately if the order of sums is
/// not fixed.
inline bool same_results(const runtime::cuda::DeviceKernel& row, const std::vector<std::byte>& a,
                         const std::vector<std::byte>& b) {
  if (kernel_of(row).deterministic) return a == b;
  constexpr double kNear = 1e-4;
  const DType type = types_of(row).result;
  const auto count = static_cast<std::int64_t>(a.size() / size_of(type));
  if (a.size() != b.size()) return false;
  const formats::Array x = formats::convert_values(ArrayView(type, a.data(), count), DType::f64),
                       y = formats::convert_values(ArrayView(type, b.data(), count), DType::f64);
  for (std::int64_t i = 0; i < count; ++i) {
    const double p = x.as<double>()[static_cast<std::size_t>(i)],
                 q = y.as<double>()[static_cast<std::size_t>(i)];
    if (!(std::abs(p - q) <= kNear * (1 + std::abs(p)))) return false;
  }
  return true;
}

/// Plans C = A B, runs it and downloads C.
inline std::vector<std::byte> run_on_device(const runtime::PlanMatrix& matrix,
                                            const runtime::PlanOptions& options, const Dense& dense) {
  const auto plan = runtime::plan_spmm(matrix, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  if (options.precision) CHECK(runtime::precision_of(**plan) == *options.precision);
  const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
  const DeviceBytes c(dense.c.data(), static_cast<std::size_t>(dense.c.view().bytes()));
  const Status status = runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc});
  REQUIRE_MESSAGE(status.has_value(), status.error().message);
  require(cudaDeviceSynchronize());
  return c.to_host();
}

}  // namespace sptile::test
