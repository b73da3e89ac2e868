// Instances of kernels: a row of kernels() with value and dense types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernels/kernels.hpp"

namespace sptile::test {

struct Instance {
  const runtime::Kernel* kernel = nullptr;
  DType values = DType::none;  ///< type of the matrix's values
  runtime::DenseTypes types;
  runtime::Precision precision = runtime::Precision::fp32;
  const runtime::cuda::DeviceKernel* row = nullptr;  ///< null on the CPU
  /// False for further value types of a kernel that supports all types, which only some properties test.
  bool whole = true;

  [[nodiscard]] const runtime::Operation& op() const { return *kernel->op; }
  [[nodiscard]] bool on_cpu() const { return row == nullptr; }
  /// Returns whether zeros that are not entries are never multiplied.
  [[nodiscard]] bool ieee() const { return row == nullptr || row->ieee; }
  /// Returns whether the values of the matrix are read.
  [[nodiscard]] bool reads_values() const;
  [[nodiscard]] bool is_float() const { return types == runtime::DenseTypes(DType::f32); }
};

/// Returns a name such as "f32 x f16 to f32 tf32".
std::string describe(const Instance& instance);

/// Returns the instances of a kernel that can run here.
std::vector<Instance> instances_of(const runtime::Kernel& kernel, int capability);

/// Returns whether planning with these options selects the kernel.
bool supports(const Instance& instance, std::int64_t cols, const runtime::PlanOptions& options);

}  // namespace sptile::test
