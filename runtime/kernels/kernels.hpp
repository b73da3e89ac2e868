// Kernel table: one row per operation, format, device and instruction set.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

std::span<const Kernel> kernels();

/// Returns whether the kernel has the requested name, or, without a name, whether it may be chosen.
bool is_requested(const Kernel& kernel, std::string_view name);

/// Returns whether the kernel matches a combination and a requested name.
bool is_for(const Kernel& kernel, const Operation& op, std::string_view format, Device device,
            std::string_view name);

/// Returns whether this machine can run the kernel.
bool available(const Kernel& kernel);

/// Returns the best kernel for a combination, regardless of this machine; nullptr if there is none.
const Kernel* best_kernel(const Operation& op, std::string_view format, Device device);

/// Returns the best available kernel for a combination, or the named one; nullptr if there is none.
const Kernel* find_kernel(const Operation& op, std::string_view format, Device device,
                          std::string_view name = {});

/// Returns the instances of a CUDA kernel; empty on the CPU and in a build without nvcc.
std::span<const cuda::DeviceKernel> instances_of(const Kernel& kernel);

/// Returns whether a CPU kernel has an instance for these types.
bool has_instance(const Kernel& kernel, DType values, const DenseTypes& dense);

/// Errc::unsupported for combinations of operand and result types that no kernel supports.
Status check_types(const PlanOptions& options);

/// Returns the precision of CPU products for dense operands of this type.
Precision cpu_precision(DType dense);

/// Maximum of PlanOptions::threads.
inline constexpr int kMaxThreads = 4096;

/// Returns the number of threads for which a CPU plan divides its work.
int threads_of(const PlanOptions& options);

/// Properties that determine which kernels can run: operation, format, value type and number of columns of
/// the matrix.
struct Multiplicand {
  const Operation* op = nullptr;
  std::string_view format;
  DType values = DType::none;
  std::int64_t cols = 0;
};
Multiplicand multiplicand_of(const Operation& op, const formats::FormatView& a);

/// Returns the instance of a CUDA kernel that a plan would run on a device: with its default precision, or
/// the lowest that satisfies options.precision. Null if there is none.
const cuda::DeviceKernel* find_instance(const Kernel& kernel, const Multiplicand& a,
                                        const PlanOptions& options, const cuda::DeviceInfo& device);

/// Returns the options for the plan of a first step, whose result has the operands' type.
PlanOptions options_of_first(const PlanOptions& options);

/// Returns the reason why find_instance returns null.
std::string no_instance(const Kernel& kernel, const Multiplicand& a, const PlanOptions& options,
                        const cuda::DeviceInfo& device);

/// A kernel and, for CUDA, its instance.
struct KernelChoice {
  const Kernel* kernel = nullptr;
  const cuda::DeviceKernel* instance = nullptr;  ///< null on the CPU
};

/// Errc::usage if the kernel's results are undefined and the options do not accept that.
Status check_defined(const Kernel& kernel, const PlanOptions& options);

/// Returns the best kernel that the options allow; `device` is read for CUDA only. Errc::unsupported, or
/// Errc::usage for a named kernel, with the available alternatives.
Result<KernelChoice> choose_kernel(const Multiplicand& a, const PlanOptions& options,
                                   const cuda::DeviceInfo& device);

/// Returns the best CUDA kernel that the options allow.
Result<KernelChoice> choose_device_kernel(const Multiplicand& a, const PlanOptions& options,
                                          const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
