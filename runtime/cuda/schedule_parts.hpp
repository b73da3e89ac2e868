// The parts of a schedule: arrays one after the other, each at a multiple of 256 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Appends zeros; gives their offset.
inline std::int64_t append_zeros(Schedule& schedule, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  const std::size_t at = (schedule.bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  schedule.bytes.resize(at + bytes);
  return static_cast<std::int64_t>(at);
}

/// Appends an array; gives its offset.
template <class T>
std::int64_t append(Schedule& schedule, const std::vector<T>& part) {
  const std::size_t bytes = part.size() * sizeof(T);
  const std::int64_t at = append_zeros(schedule, bytes);
  if (bytes > 0) std::memcpy(schedule.bytes.data() + at, part.data(), bytes);
  return at;
}

}  // namespace sptile::runtime::cuda
