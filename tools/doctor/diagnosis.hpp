// Everything that `sptile doctor` tells, gathered before any of it is printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "tools/cli/verb.hpp"
#include "tools/doctor/installed_library.hpp"
#include "tools/doctor/kernel_counts.hpp"
#include "tools/doctor/processor.hpp"
#include "tools/doctor/trial.hpp"
#include "tools/doctor/variables.hpp"

namespace sptile::tools::doctor {

/// Threads of products, and what says so.
struct Threads {
  int count = 1;
  std::string why;
};

/// Instruction set that kernels are compiled for.
struct VectorExtension {
  std::string_view name;
  bool available = false;
};

struct CudaDevice {
  int ordinal = 0;
  runtime::cuda::DeviceInfo info;
  std::string unusable;  ///< why sptile cannot use it; nothing else is known then
};

/// The profile that choices on a device go by.
struct ProfileUsed {
  runtime::ProfileDevice device;
  std::optional<runtime::ProfileDevice> made_on;  ///< none: there is no profile
  std::string source;                             ///< file, or "built in"
  std::string error;                              ///< why none can be read
  [[nodiscard]] bool exact() const { return made_on && made_on->name == device.name; }
  /// True for the built-in profile of CPUs: the order of formats is the same on all.
  [[nodiscard]] bool serves_all() const {
    return device.kind == runtime::Device::cpu && source == runtime::kBuiltInSource;
  }
};

struct Diagnosis {
  std::string system, nvidia_module;
  runtime::cuda::Versions cuda;
  std::optional<InstalledLibrary> library;  ///< looked for only if this command has no CUDA kernels
  Processor processor;
  std::vector<VectorExtension> extensions;  ///< the last available one is what kernels use
  Threads threads;
  std::vector<CudaDevice> devices;
  std::string no_device;  ///< why there is none; empty: there is one
  std::vector<KernelCount> kernels;
  std::vector<Unavailable> unavailable;
  std::vector<ProfileUsed> profiles;
  std::vector<Variable> variables;
  std::vector<Trial> trials;
  std::vector<std::string> problems;  ///< what does not work
  std::vector<std::string> advice;    ///< what to install or do next

  /// True if CUDA kernels are in libsptile and not in this command, as in a wheel.
  [[nodiscard]] bool cuda_in_library() const { return library && library->cuda; }
};

/// Looks at everything; `session` says how many threads were asked for. Runs a product with each kernel.
Diagnosis diagnose(Session& session);

/// Fills in `problems` and `advice` from the rest.
void conclude(Diagnosis& found);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace sptile::tools::doctor
