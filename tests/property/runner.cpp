#include "tests/property/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "tests/property/property.hpp"

namespace sptile::test {
namespace {

using runtime::Kernel;

/// Tests kernel after kernel.
class Runner {
 public:
  Runner(const Options& options, Machine& machine)
      : options_(options),
        machine_(machine),
        report_(machine.name()),
        session_(machine, matrices_, report_, options.cases) {}

  void test(const Kernel& kernel) {
    const std::vector<Instance> instances = instances_of(kernel, machine_.capability());
    if (instances.empty()) return report_.wrong(std::string(kernel.name) + " has no instance here");
    for (const Property& property : properties())
      if (options_.properties.matches(property.name)) test(kernel, instances, property);
  }

  /// Looks for rows of the table that nothing needs.
  [[nodiscard]] const Report& finish() {
    for (const OptOut& out : opt_outs())
      if (std::none_of(runtime::kernels().begin(), runtime::kernels().end(), out.applies))
        report_.wrong("no kernel needs the opt-out of " + std::string(out.property) + ": " +
                      std::string(out.reason));
    return report_;
  }

 private:
  void test(const Kernel& kernel, const std::vector<Instance>& instances, const Property& property) {
    if (find_opt_out(kernel, property.name) != nullptr) return;
    for (const Instance& instance : instances) {
      if (property.whole && !instance.whole) continue;
      if (options_.quick && report_.cases(kernel.name, property.name) > 0) break;
      session_.begin(instance, property.name);
      property.check(session_);
    }
    if (report_.cases(kernel.name, property.name) == 0 && options_.cases == "*")
      report_.wrong(std::string(kernel.name) + " neither has a case of " + std::string(property.name) +
                    " nor opts out of it");
  }

  const Options& options_;
  Machine& machine_;
  Matrices matrices_;
  Report report_;
  Session session_;
};

}  // namespace

std::vector<const Kernel*> selected_kernels(const Options& options, runtime::Device device) {
  std::vector<const Kernel*> all;
  int number = 0;
  for (const Kernel& kernel : runtime::kernels())
    if (kernel.device == device && options.kernels.matches(kernel.name) &&
        options.ops.matches(kernel.op->name) && number++ % options.shards == options.shard)
      all.push_back(&kernel);
  return all;
}

int list(const Options& options, runtime::Device device) {
  for (const Kernel* kernel : selected_kernels(options, device))
    std::printf("kernel %s %s\n", std::string(kernel->name).c_str(), std::string(kernel->op->name).c_str());
  for (const Property& property : properties())
    if (options.properties.matches(property.name))
      std::printf("property %s: %s\n", std::string(property.name).c_str(),
                  std::string(property.summary).c_str());
  return 0;
}

int run_tests(const Options& options, Machine& machine) {
  const auto begin = std::chrono::steady_clock::now();
  Runner runner(options, machine);
  int tested = 0, left_out = 0;
  for (const Kernel* kernel : selected_kernels(options, machine.device())) {
    if (kernel->undefined_result) {
      left_out++;
      std::printf("left out: the results of %s are undefined\n", std::string(kernel->name).c_str());
      continue;
    }
    const bool here = machine.device() == runtime::Device::cuda
                          ? !instances_of(*kernel, machine.capability()).empty()
                          : available(*kernel);
    (here ? tested : left_out)++;
    if (here)
      runner.test(*kernel);
    else
      std::printf("left out: %s needs %s\n", std::string(kernel->name).c_str(),
                  std::string(kernel->isa).c_str());
  }
  const Report& report = runner.finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s: %d kernels, %d left out, %lld cases, %lld failures, %.1f s\n",
              std::string(machine.name()).c_str(), tested, left_out, static_cast<long long>(report.cases()),
              static_cast<long long>(report.failures()), took.count());
  if (tested == 0) std::printf("no kernel was selected\n");
  return report.failures() > 0 || tested == 0 ? 1 : 0;
}

}  // namespace sptile::test
