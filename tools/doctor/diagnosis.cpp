#include "tools/doctor/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/cpu/isa.hpp"
#include "runtime/threads/count.hpp"
#include "tools/pipeline/devices.hpp"

namespace sptile::tools::doctor {
namespace {

Threads threads_of(const CommonOptions& common) {
  const runtime::ThreadCount found = runtime::default_threads();
  const bool either = common.threads > 0 && std::getenv("SPTILE_THREADS") != nullptr;
  return {found.threads, either ? "--threads or SPTILE_THREADS" : std::string(found.source)};
}

void find_devices(Diagnosis& found) {
  for (int ordinal = 0; ordinal < runtime::cuda::device_count(); ++ordinal) {
    auto info = runtime::cuda::find_device(ordinal);
    found.devices.push_back(
        {ordinal, info ? *info : runtime::cuda::DeviceInfo{}, info ? std::string() : info.error().message});
  }
  if (found.devices.empty())
    found.no_device =
        found.cuda_in_library() ? found.library->no_device : runtime::cuda::find_device(0).error().message;
}

ProfileUsed profile_used(const runtime::ProfileDevice& device) {
  ProfileUsed used{device, {}, {}, {}};
  const auto profile = runtime::find_profile(device);
  if (!profile) {
    used.error = profile.error().text();
  } else if (*profile) {
    used.made_on = (*profile)->device;
    used.source = (*profile)->source;
  }
  return used;
}

void find_profiles(Diagnosis& found) {
  found.profiles.push_back(profile_used(runtime::profile_device(runtime::Device::cpu, {})));
  for (const CudaDevice& device : found.devices)
    if (device.unusable.empty())
      found.profiles.push_back(profile_used(runtime::profile_device(runtime::Device::cuda, device.info)));
}

// Returns whether a device or its driver is present and this build could use it.
bool device_should_work(const Diagnosis& found) {
  const auto hides = [](const Variable& v) { return v.name == "CUDA_VISIBLE_DEVICES"; };
  if (found.cuda.built == 0 || found.cuda.driver == 0 || std::ranges::any_of(found.variables, hides))
    return false;
  return found.cuda.driver / 1000 < found.cuda.built / 1000 || !found.nvidia_module.empty();
}

void conclude_devices(Diagnosis& found) {
  if (!found.no_device.empty() && device_should_work(found)) {
    const bool old = found.cuda.driver / 1000 < found.cuda.built / 1000;
    found.problems.push_back(
        old ? fmt::format("the driver supports CUDA up to {}, but this build uses {}; install a newer driver",
                          cuda_version_text(found.cuda.driver), cuda_version_text(found.cuda.built))
            : found.no_device);
  }
  if (found.cuda.built == 0 && !found.cuda_in_library() && !found.nvidia_module.empty())
    found.advice.push_back(
        "an NVIDIA driver is installed, but this build has no CUDA kernels; install the CUDA toolkit and "
        "rebuild");
  for (const CudaDevice& device : found.devices)
    if (!device.unusable.empty()) found.advice.push_back(device.unusable);
}

void conclude_threads(Diagnosis& found) {
  const double quota = found.processor.quota.value_or(0);
  const int enough = std::max(1, static_cast<int>(std::ceil(quota)));
  if (quota > 0 && found.threads.count > enough)
    found.advice.push_back(
        fmt::format("control groups limit this process to {:g} processors, but it would use {} threads; use "
                    "--threads {} or SPTILE_THREADS={}",
                    quota, found.threads.count, enough, enough));
  if (found.threads.count > found.processor.usable)
    found.advice.push_back(fmt::format("{} threads ({}) share {} processors; use fewer threads",
                                       found.threads.count, found.threads.why, found.processor.usable));
}

void conclude_profiles(Diagnosis& found) {
  for (const ProfileUsed& used : found.profiles) {
    const std::string_view device = name_of(used.device.kind);
    if (!used.error.empty())
      found.problems.push_back(fmt::format("profile for {}: {}", device, used.error));
    else if (!used.made_on)
      found.advice.push_back(fmt::format(
          "no profile for {}: automatic choices are less accurate; run 'sptile calibrate --device {}'",
          device, device));
    else if (!used.exact() && !used.supports_all())
      found.advice.push_back(
          fmt::format("the profile for {} is of a different device, {}; run 'sptile calibrate --device {}'",
                      device, used.made_on->name, device));
  }
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void conclude(Diagnosis& found) {
  conclude_devices(found);
  conclude_threads(found);
  conclude_profiles(found);
  for (const Variable& variable : found.variables)
    if (!variable.good) found.advice.push_back(fmt::format("{}: {}", variable.name, variable.says));
  for (const Trial& trial : found.trials)
    for (const std::string& failure : trial.failures) found.problems.push_back(failure);
}

Diagnosis diagnose(Session& session) {
  Diagnosis found;
  found.system = system_name();
  found.nvidia_module = nvidia_module();
  found.cuda = runtime::cuda::versions();
  if (!runtime::cuda::built()) found.library = find_installed_library();
  found.processor = read_processor();
  for (const runtime::Isa& isa : runtime::isas()) found.extensions.push_back({isa.name, isa.available()});
  found.threads = threads_of(session.common);
  find_devices(found);
  found.kernels = count_kernels();
  found.unavailable = why_unavailable(found.cuda_in_library());
  find_profiles(found);
  found.variables = judge_environment();
  for (const DeviceRow& row : devices())
    if (device_available(row)) found.trials.push_back(try_kernels(session, row.device));
  conclude(found);
  return found;
}

}  // namespace sptile::tools::doctor
