#include "runtime/cuda/device/small_pool.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cuda/device/current_device.hpp"

namespace sptile::runtime::cuda {
namespace {

struct Pools {
  std::mutex mutex;
  std::map<int, SmallPool> of;
  std::map<int, std::vector<void*>> late;  ///< memory that could not be freed so far
};

/// Never destroyed: the driver may shut down before static objects are destroyed.
Pools& pools() {
  static auto* const one = new Pools;
  return *one;
}

/// Returns an empty pool if none can be created.
SmallPool make_pool(int ordinal) {
  SmallPool made;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  std::uint64_t kept = SmallPool::kKept;
  const bool good = cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking) == cudaSuccess &&
                    cudaMemPoolCreate(&made.pool, &properties) == cudaSuccess &&
                    cudaMemPoolSetAttribute(made.pool, cudaMemPoolAttrReleaseThreshold, &kept) == cudaSuccess;
  if (good) return made;
  cudaGetLastError();  // clears an error that is not a failure
  if (made.pool != nullptr) cudaMemPoolDestroy(made.pool);
  if (made.stream != nullptr) cudaStreamDestroy(made.stream);
  return {};
}

std::vector<void*> take_late(int ordinal) {
  const std::lock_guard lock(pools().mutex);
  return std::exchange(pools().late[ordinal], {});
}

void add_late(int ordinal, const std::vector<void*>& memory) {
  cudaGetLastError();
  const std::lock_guard lock(pools().mutex);
  std::vector<void*>& late = pools().late[ordinal];
  late.insert(late.end(), memory.begin(), memory.end());
}

}  // namespace

const SmallPool* small_pool(int ordinal) {
  const std::lock_guard lock(pools().mutex);
  auto found = pools().of.find(ordinal);
  if (found == pools().of.end()) found = pools().of.emplace(ordinal, make_pool(ordinal)).first;
  return found->second.pool != nullptr ? &found->second : nullptr;
}

void* take_small(int ordinal, std::size_t bytes) {
  const SmallPool* const small = bytes <= SmallPool::kLargest ? small_pool(ordinal) : nullptr;
  if (small == nullptr) return nullptr;
  void* data = nullptr;
  if (cudaMallocFromPoolAsync(&data, bytes, small->pool, small->stream) == cudaSuccess &&
      cudaStreamSynchronize(small->stream) == cudaSuccess)
    return data;
  cudaGetLastError();
  return nullptr;
}

void give_back(int ordinal, void* data) {
  const CurrentDevice current(ordinal);
  const SmallPool* const small = small_pool(ordinal);
  std::vector<void*> all = take_late(ordinal);
  all.push_back(data);
  if (cudaDeviceSynchronize() != cudaSuccess) return add_late(ordinal, all);
  for (void* const one : all) cudaFreeAsync(one, small != nullptr ? small->stream : nullptr);
}

}  // namespace sptile::runtime::cuda
