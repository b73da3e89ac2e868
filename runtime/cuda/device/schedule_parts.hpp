// The parts of a schedule: arrays one after the other, each at a multiple of 256 bytes, and the schedules of
// kernels that are made of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
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

/// Appends the schedule of another kernel, with its bytes and its scratch.
inline void append_schedule(Schedule& whole, Schedule&& part) {
  constexpr std::size_t kAlignment = 256;
  part.bytes_at = append(whole, part.bytes);
  part.workspace_at = static_cast<std::int64_t>(whole.workspace_bytes);
  whole.workspace_bytes += (part.workspace_bytes + kAlignment - 1) / kAlignment * kAlignment;
  part.bytes = {};
  whole.parts.push_back(std::move(part));
}

/// The launch of a part.
inline Launch launch_of_part(const Launch& whole, std::size_t part) {
  Launch launch = whole;
  launch.host = &whole.host->parts[part];
  launch.schedule += launch.host->bytes_at;
  launch.workspace += launch.host->workspace_at;
  return launch;
}

}  // namespace sptile::runtime::cuda
