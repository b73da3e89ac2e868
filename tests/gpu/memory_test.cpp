// Memory of devices: little from a pool that keeps it, much from the device.
#include <memory>

#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/small_pool.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceBuffer;
using runtime::cuda::SmallPool;

namespace {

std::uint64_t bytes_of_pool(cudaMemPoolAttr which) {
  const SmallPool* const small = runtime::cuda::small_pool(0);
  REQUIRE(small != nullptr);
  std::uint64_t bytes = 0;
  require(cudaDeviceSynchronize());
  require(cudaMemPoolGetAttribute(small->pool, which, &bytes));
  return bytes;
}
std::uint64_t used() { return bytes_of_pool(cudaMemPoolAttrUsedMemCurrent); }

DeviceBuffer buffer(std::size_t bytes) {
  auto made = DeviceBuffer::allocate(bytes, "a test");
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("cuda memory: little comes from a pool, which keeps some of what it gets back") {
  const std::uint64_t before = used();
  {
    const DeviceBuffer little = buffer(1000), largest = buffer(SmallPool::kLargest);
    CHECK(reinterpret_cast<std::uintptr_t>(little.data()) % 256 == 0);
    CHECK(used() >= before + 1000 + SmallPool::kLargest);
    const std::uint64_t both = used();
    const DeviceBuffer much = buffer(SmallPool::kLargest + 1);
    CHECK(used() == both);
    DeviceBuffer moved;
    moved = buffer(1000);
    moved = DeviceBuffer();
    CHECK(used() == both);
  }
  CHECK(used() == before);
  CHECK(bytes_of_pool(cudaMemPoolAttrReservedMemCurrent) >= SmallPool::kLargest);
  std::vector<DeviceBuffer> many;
  for (int i = 0; i < 30; ++i) many.push_back(buffer(SmallPool::kLargest));
  many.clear();
  CHECK(bytes_of_pool(cudaMemPoolAttrReservedMemCurrent) <= 2 * SmallPool::kKept);
}

TEST_CASE("cuda memory: what must not be given back during a capture goes later") {
  const std::uint64_t before = used();
  const Stream stream;
  Graph graph;
  {
    const DeviceBuffer to = buffer(1000);
    auto other = std::make_unique<DeviceBuffer>(buffer(1000));
    require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
    other.reset();
    cudaMemsetAsync(to.data(), 0, 1000, stream.get());
    cudaStreamEndCapture(stream.get(), &graph.graph);
    cudaGetLastError();
  }
  CHECK(used() == before);
}
