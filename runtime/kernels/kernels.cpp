#include "runtime/kernels/kernels.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "runtime/cpu/isa.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/families/families.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

/// Instruction set whose constants predict the others if the built-in profile has none for them.
constexpr std::string_view kMeasuredIsa = "generic";

/// Returns a kernel for each operation, format and instruction set of the build, such as "cpu.csr.avx2" or
/// "cpu.bittcf.sddmm.generic". Tile formats have kernels for the baseline only.
std::vector<Kernel> cpu_rows() {
  static std::deque<std::string> names;  // a deque does not move its elements
  const auto add_name = [](const CpuKernel& row, std::string_view isa) -> std::string_view {
    return names.emplace_back("cpu." + std::string(row.format) +
                              (row.op == &kSpmm ? "" : "." + std::string(row.op->name)) + "." +
                              std::string(isa));
  };
  std::vector<Kernel> found;
  for (const Isa& isa : isas()) {
    const CpuKernels rows = isa.kernels();
    for (const CpuKernel& row : std::span(rows.rows, static_cast<std::size_t>(rows.count))) {
      found.push_back({.name = add_name(row, isa.name),
                       .op = row.op,
                       .format = row.format,
                       .isa = isa.name,
                       .summary = row.summary,
                       .like = add_name(row, kMeasuredIsa)});
    }
  }
  return found;
}

/// Returns all kernels in ascending order of preference: find_kernel takes the last available match.
const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> rows = cpu_rows();
    for (const cuda::Family family : cuda::families())
      for (const Kernel& row : family()) rows.push_back(row);
    return rows;
  }();
  return all;
}

/// Returns whether a device supports an instance of a CUDA kernel.
bool runs_on_a_device(const Kernel& kernel) {
  for (int ordinal = 0; ordinal < cuda::device_count(); ++ordinal) {
    const Result<cuda::DeviceInfo> device = cuda::find_device(ordinal);
    for (const cuda::DeviceKernel& row : instances_of(kernel))
      if (device && runs_on(row, device->capability)) return true;
  }
  return false;
}

}  // namespace

std::span<const Kernel> kernels() { return all_kernels(); }

bool is_requested(const Kernel& kernel, std::string_view name) {
  return name.empty() ? !kernel.by_name : kernel.name == name;
}

bool is_for(const Kernel& kernel, const Operation& op, std::string_view format, Device device,
            std::string_view name) {
  return kernel.op == &op && kernel.format == format && kernel.device == device && is_requested(kernel, name);
}

bool available(const Kernel& kernel) {
  if (kernel.device == Device::cuda) return runs_on_a_device(kernel);
  const Isa* isa = find_isa(kernel.isa);
  return isa != nullptr && isa->available();
}

const Kernel* best_kernel(const Operation& op, std::string_view format, Device device) {
  const auto is_one = [&](const Kernel& kernel) { return is_for(kernel, op, format, device, {}); };
  const std::vector<Kernel>& all = all_kernels();
  const auto last = std::find_if(all.rbegin(), all.rend(), is_one);
  return last == all.rend() ? nullptr : &*last;
}

const Kernel* find_kernel(const Operation& op, std::string_view format, Device device,
                          std::string_view name) {
  const Kernel* best = nullptr;
  for (const Kernel& kernel : all_kernels())
    if (is_for(kernel, op, format, device, name) && available(kernel)) best = &kernel;
  return best;
}

std::span<const cuda::DeviceKernel> instances_of(const Kernel& kernel) {
  if (kernel.device != Device::cuda) return {};
  return kernel.instances == nullptr ? cuda::instances_named(kernel.name) : kernel.instances();
}

namespace {

/// Lists the CPU kernels of this machine.
std::string kernel_choices(const Multiplicand& a) {
  std::string names;
  for (const Kernel& kernel : kernels())
    if (is_for(kernel, *a.op, a.format, Device::cpu, {}) && available(kernel))
      names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  return names.empty() ? "none" : names;
}

/// Lists the dense types that a kernel supports with a value type.
std::string dense_choices(const Kernel& kernel, DType values) {
  std::string names;
  for (const DTypeInfo& type : kDTypes)
    if (has_instance(kernel, values, type.dtype))
      names += (names.empty() ? "" : " or ") + std::string(type.name);
  return names;
}

Result<KernelChoice> choose_cpu_kernel(const Multiplicand& a, const PlanOptions& options) {
  const Kernel* const kernel = find_kernel(*a.op, a.format, Device::cpu, options.kernel);
  if (kernel == nullptr)
    return fail(options.kernel.empty() ? Errc::unsupported : Errc::usage,
                "plan: no kernel " + (options.kernel.empty() ? "" : std::string(options.kernel) + " ") +
                    "for " + std::string(a.op->name) + " with format " + std::string(a.format) +
                    " on this CPU; available: " + kernel_choices(a));
  if (has_instance(*kernel, a.values, types_of(options))) return KernelChoice{kernel, nullptr};
  const std::string type = a.values == DType::none ? "pattern" : std::string(name_of(a.values));
  return fail(Errc::unsupported, "plan: a matrix of " + type + " values cannot be multiplied by dense " +
                                     std::string(name_of(options.dense)) + "; use " +
                                     dense_choices(*kernel, a.values));
}

}  // namespace

Status check_defined(const Kernel& kernel, const PlanOptions& options) {
  if (!kernel.undefined_result || options.undefined_result) return {};
  return fail(Errc::usage, "plan: the results of " + std::string(kernel.name) +
                               " are undefined, only its time is of use; run it by sptile bench --no-check");
}

Result<KernelChoice> choose_kernel(const Multiplicand& a, const PlanOptions& options,
                                   const cuda::DeviceInfo& device) {
  auto chosen = options.device == Device::cpu ? choose_cpu_kernel(a, options)
                                              : choose_device_kernel(a, options, device);
  if (chosen)
    if (Status s = check_defined(*chosen->kernel, options); !s) return tl::unexpected(std::move(s.error()));
  return chosen;
}

int threads_of(const PlanOptions& options) {
  return options.threads > 0 ? options.threads : default_threads().threads;
}

Status check_types(const PlanOptions& options) {
  const auto [dense, result] = types_of(options);
  const bool narrow = dense == DType::f16 || dense == DType::bf16;
  if (result == dense || (narrow && result == DType::f32)) return {};
  const std::string name(name_of(dense));
  return fail(Errc::unsupported, "results of dense " + name + " operands have type " + name +
                                     (narrow ? " or f32" : "") + ", not " + std::string(name_of(result)));
}

bool has_instance(const Kernel& kernel, DType values, const DenseTypes& dense) {
  return find_function(kernel, values, dense) != nullptr;
}

Precision cpu_precision(DType dense) { return dense == DType::f64 ? Precision::fp64 : Precision::fp32; }

}  // namespace sptile::runtime
