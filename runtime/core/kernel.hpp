// Description of a kernel: one row of the kernel table.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/options.hpp"

namespace sptile::runtime {

struct Operation;
struct ProductSizes;

namespace cuda {
struct DeviceKernel;
}

/// Operation that a plan runs before its kernel, with the best kernel that the format has for it.
struct FirstStep {
  const Operation* op;
  /// Operand of the kernel's operation for each operand of `op`. The last one is the result. It is written to
  /// the workspace if the run does not provide it.
  std::span<const int> operands;
  double (*then_us)(
      /// estimate for the second step from operation counts, if the profile has no times of both steps
      const ProductSizes&);
};

/// A kernel, as `sptile list kernels` prints it.
struct Kernel {
  std::string_view name;  ///< for example "cpu.csr.avx2"
  const Operation* op = nullptr;
  std::string_view format;  ///< for example "bittcf"
  Device device = Device::cpu;
  /// a name of isas(), such as "avx2" or "neon"; on CUDA the minimum compute capability, such as "sm_80"
  std::string_view isa;
  /// the bits of the result depend neither on the run nor on the number of threads
  bool deterministic = true;
  std::string_view summary;
  bool by_name = false;  ///< runs if requested by name; chosen as in may_be_chosen
  /// The kernel lacks synchronization: its results are undefined, its time is a lower bound. It has
  /// `by_name`, and plans refuse it unless PlanOptions::undefined_result is set.
  bool undefined_result = false;
  int stores = 1;  ///< maximum number of stores per row of C; each rounds to the dense type
  std::span<const std::string_view> costs = {};  ///< names of the profile's constants that split its work
  const FirstStep* first = nullptr;              ///< first of two steps; null: there is one step
  std::string_view like = {};  ///< kernel whose costs replace its own if the profile does not have them
  /// Instances of a CUDA kernel; null if they are not linked in, see instances_of.
  std::span<const cuda::DeviceKernel> (*instances)() = nullptr;
};

}  // namespace sptile::runtime
