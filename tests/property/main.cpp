// Checks properties of every kernel: see docs/contributing.md.
#include <cstdio>
#include <exception>
#include <string>

#include "tests/property/runner.hpp"

using namespace sptile::test;

namespace {

constexpr int kUsageError = 2, kSkipped = 77;

int run(const Options& options) {
  const bool cpu = options.backend == "cpu";
  const auto device = cpu ? sptile::runtime::Device::cpu : sptile::runtime::Device::cuda;
  if (!cpu && options.backend != device_backend())
    throw std::invalid_argument("this program has the backends cpu and " + std::string(device_backend()) +
                                ", not " + options.backend);
  if (options.list) return list(options, device);
  if (options.mode == "support") return print_support(options, device);
  std::string why_not;
  const auto machine = cpu ? make_cpu() : make_device(options.quick, why_not);
  if (machine == nullptr) {
    std::printf("skipped: %s\n", why_not.c_str());
    return kSkipped;
  }
  return options.mode == "perf" ? run_perf(options, *machine) : run_tests(options, *machine);
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse_options(argc, argv);
  if (!options.help) return run(options);
  std::fputs(kUsage, stdout);
  return 0;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "sptile_property: %s\n%s", error.what(), kUsage);
  return kUsageError;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sptile_property: %s\n", error.what());
  return 1;
}
