// The table of kernels: one row per operation, format, device and instruction set.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

std::span<const Kernel> kernels();

/// True when the kernel has the name that was asked for. None: any that is not there only for those who name
/// it.
bool is_wanted(const Kernel& kernel, std::string_view name);

/// True when the kernel is one for a combination, and wanted.
bool is_for(const Kernel& kernel, const Operation& op, std::string_view format, Device device,
            std::string_view name);

/// True when this machine can run it.
bool available(const Kernel& kernel);

/// Finds the best kernel for a combination, whatever this machine can run; nullptr when there is none.
const Kernel* best_kernel(const Operation& op, std::string_view format, Device device);

/// Finds the best available kernel for a combination, or the named one; nullptr when there is none.
const Kernel* find_kernel(const Operation& op, std::string_view format, Device device,
                          std::string_view name = {});

/// Instances of a kernel for CUDA; none on the CPU, and in a build without nvcc.
std::span<const cuda::DeviceKernel> instances_of(const Kernel& kernel);

/// True when a kernel for the CPU has an instance for these types.
bool has_instance(const Kernel& kernel, DType values, const DenseTypes& dense);

/// Errc::unsupported for types of operands and results that never go together.
Status check_types(const PlanOptions& options);

/// How kernels for the CPU form products of dense operands of this type.
Precision cpu_precision(DType dense);

/// Maximum of PlanOptions::threads.
inline constexpr int kMaxThreads = 4096;

/// Returns the number of threads that a CPU plan divides its work for.
int threads_of(const PlanOptions& options);

/// What decides which kernel can run: an operation, and of its matrix the format, the type of values and the
/// number of columns.
struct Multiplicand {
  const Operation* op = nullptr;
  std::string_view format;
  DType values = DType::none;
  std::int64_t cols = 0;
};
Multiplicand multiplicand_of(const Operation& op, const formats::FormatView& a);

/// Finds the instance of a CUDA kernel that a plan would run on a device: of its precisions the default one,
/// or the least exact one that satisfies options.precision. Null when there is none.
const cuda::DeviceKernel* find_instance(const Kernel& kernel, const Multiplicand& a,
                                        const PlanOptions& options, const cuda::DeviceInfo& device);

/// Options of the plan of what runs before a kernel: its result has the type of the operands.
PlanOptions options_of_first(const PlanOptions& options);

/// Says why a CUDA kernel has no instance, find_instance giving none.
std::string no_instance(const Kernel& kernel, const Multiplicand& a, const PlanOptions& options,
                        const cuda::DeviceInfo& device);

/// A kernel and, for CUDA, its instance.
struct KernelChoice {
  const Kernel* kernel = nullptr;
  const cuda::DeviceKernel* instance = nullptr;  ///< null on the CPU
};

/// Finds the best kernel that the options allow; `device` is read for CUDA only. Errc::unsupported, or
/// Errc::usage for a named kernel, with what there is.
Result<KernelChoice> choose_kernel(const Multiplicand& a, const PlanOptions& options,
                                   const cuda::DeviceInfo& device);

/// The same among kernels for CUDA.
Result<KernelChoice> choose_device_kernel(const Multiplicand& a, const PlanOptions& options,
                                          const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
