// Tests that need a CUDA device. One binary, so that it can be carried to a machine that has one; without one
// it says so and exits with 77, which test runners count as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "runtime/cuda/backend.hpp"
#include "tests/skip.hpp"
#include "tests/vacuous_cases.hpp"

/// Other than elsewhere the rest still counts: a machine with one device is the usual one.
void sptile::skip(const std::string& missing) {
  VacuousCases::excused = true;
  std::fprintf(stderr, "SKIPPED: %s\n", missing.c_str());
}

REGISTER_LISTENER("vacuous cases", 0, sptile::VacuousCases);

int main(int argc, char** argv) {
  const auto device = sptile::runtime::cuda::find_device(0);
  if (!device) {
    std::printf("SKIPPED, nothing was tested: %s\n", device.error().message.c_str());
    return 77;
  }
  std::printf("on %s, compute capability %d.%d, %d multiprocessors\n", device->name.c_str(),
              device->capability / 10, device->capability % 10, device->sm_count);
  const int failed = doctest::Context(argc, argv).run();
  return failed == 0 && sptile::VacuousCases::count > 0 ? 1 : failed;
}
