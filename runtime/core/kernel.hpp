// A row of the table of kernels.
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

/// What a plan does before its kernel runs: another operation, with the best kernel that the format has for
/// it.
struct FirstStep {
  const Operation* op;
  /// Which operand of the kernel's own operation each of its operands is. The last is written: to the
  /// workspace where it is not given.
  std::span<const int> operands;
  double (*then_us)(
      const ProductSizes&);  ///< what the kernel itself takes, counted, where no profile knows both
};

/// One row, as `sptile list kernels` shows it.
struct Kernel {
  std::string_view name;  ///< "cpu.csr.avx2"
  const Operation* op = nullptr;
  std::string_view format;  ///< "bittcf"
  Device device = Device::cpu;
  std::string_view isa;  ///< row of isas(): "avx2", "neon"; on CUDA the least compute capability: "sm_80"
  bool deterministic = true;  ///< same bits on every run and for any number of threads
  std::string_view summary;
  bool by_name = false;                          ///< never chosen: it runs for those who name it
  int stores = 1;                                ///< of a row of C, at most: each rounds to the dense type
  std::span<const std::string_view> costs = {};  ///< numbers of the device's profile that divide its work
  const FirstStep* first = nullptr;              ///< null: the kernel does it all
  std::string_view like = {};  ///< the kernel whose costs stand in for its own while a profile has none
  /// Of a kernel for CUDA; null where it is not linked in: see instances_of.
  std::span<const cuda::DeviceKernel> (*instances)() = nullptr;
};

}  // namespace sptile::runtime
