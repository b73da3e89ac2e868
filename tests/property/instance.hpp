// Instances of kernels: a row of kernels() with types of values and of dense operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernels/kernels.hpp"

namespace sptile::test {

struct Instance {
  const runtime::Kernel* kernel = nullptr;
  DType values = DType::none;  ///< of the matrix
  runtime::DenseTypes types;
  runtime::Precision precision = runtime::Precision::fp32;
  const runtime::cuda::DeviceKernel* row = nullptr;  ///< null on the CPU
  /// False for further types of values of a kernel that serves all of them: only some properties see those.
  bool whole = true;

  [[nodiscard]] const runtime::Operation& op() const { return *kernel->op; }
  [[nodiscard]] bool on_cpu() const { return row == nullptr; }
  /// Multiplies by no zero that is not an entry.
  [[nodiscard]] bool ieee() const { return row == nullptr || row->ieee; }
  /// Whether the values of the matrix take part.
  [[nodiscard]] bool reads_values() const;
  [[nodiscard]] bool is_float() const { return types == runtime::DenseTypes(DType::f32); }
};

/// "f32 x f16 to f32 tf32".
std::string describe(const Instance& instance);

/// Instances of a kernel that run here.
std::vector<Instance> instances_of(const runtime::Kernel& kernel, int capability);

/// Whether planning with these options finds the kernel.
bool serves(const Instance& instance, std::int64_t cols, const runtime::PlanOptions& options);

}  // namespace sptile::test
