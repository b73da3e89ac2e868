// Results of `sptile doctor`, gathered before printing.
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

/// Threads of products, and the setting that determines them.
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
  std::string unusable;  ///< reason why sptile cannot use it; other members are then unset
};

/// The profile used for choices on a device.
struct ProfileUsed {
  runtime::ProfileDevice device;
  std::optional<runtime::ProfileDevice> made_on;  ///< nullopt: there is no profile
  std::string source;                             ///< file, or "built in"
  std::string error;                              ///< reason why no profile can be read
  [[nodiscard]] bool exact() const { return made_on && made_on->name == device.name; }
  /// Returns true for the built-in CPU profile, in which the order of formats is the same for all CPUs.
  [[nodiscard]] bool supports_all() const {
    return device.kind == runtime::Device::cpu && source == runtime::kBuiltInSource;
  }
};

struct Diagnosis {
  std::string system, nvidia_module;
  runtime::cuda::Versions cuda;
  std::optional<InstalledLibrary> library;  ///< searched only if this command has no CUDA kernels
  Processor processor;
  std::vector<VectorExtension> extensions;  ///< kernels use the last available one
  Threads threads;
  std::vector<CudaDevice> devices;
  std::string no_device;  ///< reason why there is none; empty: there is one
  std::vector<KernelCount> kernels;
  std::vector<Unavailable> unavailable;
  std::vector<ProfileUsed> profiles;
  std::vector<Variable> variables;
  std::vector<Trial> trials;
  std::vector<std::string> problems;  ///< detected problems
  std::vector<std::string> advice;    ///< recommended installations or steps

  /// Returns whether CUDA kernels are in libsptile but not in this command, as in a wheel.
  [[nodiscard]] bool cuda_in_library() const { return library && library->cuda; }
};

/// Runs all diagnoses, including a product with each kernel; `session` contains the requested number of
/// threads.
Diagnosis diagnose(Session& session);

/// Derives `problems` and `advice` from the other members.
void conclude(Diagnosis& found);

/// Returns "13.0" for 13000.
std::string cuda_version_text(int version);

}  // namespace sptile::tools::doctor
