// Partition of a kernel's work, computed on the host during planning.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace sptile::runtime::cuda {

/// Data of a schedule that launches read: a plain struct of the kernel's family with offsets of arrays,
/// counts and grid sizes. Opaque to other code.
class ScheduleHeader {
 public:
  template <class T>
  void set(const T& header) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxBytes);
    std::memcpy(bytes_.data(), &header, sizeof header);
    type_ = &kTypeId<T>;
  }
  template <class T>
  [[nodiscard]] bool is() const {
    return type_ == &kTypeId<T>;
  }
  template <class T>
  [[nodiscard]] const T& as() const {
    assert(is<T>());
    return *reinterpret_cast<const T*>(bytes_.data());
  }

 private:
  static constexpr std::size_t kMaxBytes = 384;
  template <class T>
  static constexpr char kTypeId = 0;

  alignas(16) std::array<std::byte, kMaxBytes> bytes_{};
  const char* type_ = nullptr;
};

/// One schedule. `bytes` is uploaded unchanged, to an address that is a multiple of kScheduleAlignment.
struct Schedule {
  std::vector<std::byte> bytes;
  std::span<const std::byte> borrowed = {};  ///< used instead of `bytes`: the bytes of a stored schedule
  ScheduleHeader header;
  /// Bytes of device workspace. It is zero before the first launch, and launches reset their counters to
  /// zero.
  std::size_t workspace_bytes = 0;

  [[nodiscard]] std::span<const std::byte> contents() const { return borrowed.empty() ? bytes : borrowed; }
};

inline constexpr std::size_t kScheduleAlignment = 256;

constexpr std::size_t schedule_aligned(std::size_t bytes) {
  return (bytes + kScheduleAlignment - 1) / kScheduleAlignment * kScheduleAlignment;
}

/// Appends zeros and returns their offset.
inline std::int64_t append_zeros(Schedule& schedule, std::size_t bytes) {
  const std::size_t at = schedule_aligned(schedule.bytes.size());
  schedule.bytes.resize(at + bytes);
  return static_cast<std::int64_t>(at);
}

/// Reserves space for arrays, so that appending them does not reallocate.
template <class... T>
void reserve(Schedule& schedule, const std::vector<T>&... parts) {
  std::size_t end = schedule.bytes.size();
  ((end = schedule_aligned(end) + parts.size() * sizeof(T)), ...);
  schedule.bytes.reserve(end);
}

/// Appends an array and returns its offset.
template <class T>
std::int64_t append(Schedule& schedule, const std::vector<T>& part) {
  const std::size_t bytes = part.size() * sizeof(T);
  const std::int64_t at = append_zeros(schedule, bytes);
  if (bytes > 0) std::memcpy(schedule.bytes.data() + at, part.data(), bytes);
  return at;
}

/// Offsets of a kernel's counters and partial sums in the workspace.
struct ScheduleScratch {
  std::int64_t counters_at = 0, partials_at = 0;
};

/// Reserves `counters` 4-byte counters, followed by `partial_bytes` bytes of partial sums.
inline ScheduleScratch append_scratch(Schedule& schedule, std::int64_t counters, std::int64_t partial_bytes) {
  const std::size_t at = schedule_aligned(schedule.workspace_bytes);
  const std::size_t partials = at + schedule_aligned(static_cast<std::size_t>(4 * counters));
  schedule.workspace_bytes = partials + static_cast<std::size_t>(partial_bytes);
  return {static_cast<std::int64_t>(at), static_cast<std::int64_t>(partials)};
}

}  // namespace sptile::runtime::cuda
