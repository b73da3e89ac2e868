// The table of kernels: one row per operation, format, device and instruction set.
#pragma once

#include <span>
#include <string_view>

#include "runtime/plan/spmm.hpp"

namespace sptile::runtime {

/// One row, as `sptile list kernels` shows it.
struct Kernel {
  std::string_view name;    ///< "cpu.bittcf.avx2"
  std::string_view op;      ///< "spmm"
  std::string_view format;  ///< "bittcf"
  Device device;
  std::string_view isa;  ///< "generic", "avx2", "avx512"; on CUDA the least compute capability: "sm_80"
  bool deterministic;    ///< same bits on every run and for any number of threads
  std::string_view summary;
  int stores = 1;  ///< of a row of C, at most: each rounds to the dense type
};

std::span<const Kernel> kernels();

/// True when the kernel has the name that was asked for. None: any that is deterministic; the others are
/// there for those who name them.
bool is_wanted(const Kernel& kernel, std::string_view name);

/// True when the kernel is one for a combination, and wanted.
bool is_for(const Kernel& kernel, std::string_view op, std::string_view format, Device device,
            std::string_view name);

/// True when this machine can run it.
bool available(const Kernel& kernel);

/// Finds the best kernel for a combination, whatever this machine can run; nullptr when there is none.
const Kernel* best_kernel(std::string_view op, std::string_view format, Device device);

/// Finds the best available kernel for a combination, or the named one; nullptr when there is none.
const Kernel* find_kernel(std::string_view op, std::string_view format, Device device,
                          std::string_view name = {});

}  // namespace sptile::runtime
