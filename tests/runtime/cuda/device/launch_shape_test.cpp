#include "runtime/cuda/device/launch_shape.hpp"

#include <doctest/doctest.h>

namespace {

using sptile::runtime::cuda::carveout_of;
using sptile::runtime::cuda::DeviceInfo;
using sptile::runtime::cuda::kAllShared;
using sptile::runtime::cuda::LaunchShape;

DeviceInfo device() {
  DeviceInfo info;
  info.shared_per_block = 227 * 1024;
  return info;
}

TEST_CASE("launch shape: all threads of a multiprocessor get shared memory by default") {
  LaunchShape shape = {.blocks = dim3(1), .threads = 128, .shared_bytes = 1024};
  CHECK(carveout_of(shape, device()) == 15);  // 16 blocks with 2 KiB each, of 228 KiB
  shape.threads = 1024;
  CHECK(carveout_of(shape, device()) == 2);
}

TEST_CASE("launch shape: the number of resident blocks limits shared memory") {
  LaunchShape shape = {.blocks = dim3(1), .threads = 128, .shared_bytes = 56 * 1024, .resident = 1};
  CHECK(carveout_of(shape, device()) == 25);
  shape.resident = 2;
  CHECK(carveout_of(shape, device()) == 50);
  shape.resident = 5;
  CHECK(carveout_of(shape, device()) == 100);
  shape.resident = kAllShared;
  CHECK(carveout_of(shape, device()) == 100);
}

}  // namespace
