// Modes of the property runner.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/core/kernel.hpp"
#include "tests/property/machine.hpp"
#include "tests/property/options.hpp"

namespace sptile::test {

/// Returns the kernels of a device that the options select, including those that this machine cannot run.
std::vector<const runtime::Kernel*> selected_kernels(const Options& options, runtime::Device device);

// Modes; each returns the exit code.
int list(const Options& options, runtime::Device device);
int run_tests(const Options& options, Machine& machine);
int run_perf(const Options& options, Machine& machine);
int print_support(const Options& options, runtime::Device device);

}  // namespace sptile::test
