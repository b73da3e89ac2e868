#include "runtime/threads/processors.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>

#include "runtime/threads/system_file.hpp"

namespace sptile::runtime {
namespace {

constexpr int kMaxProcessors = CPU_SETSIZE;

std::optional<double> ratio(std::string_view time, std::string_view period) {
  const auto above = leading_number(time), below = leading_number(period);
  if (!above || !below || *below == 0) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

/// Reads the quota of version 2: "max 100000" or "200000 100000", in microseconds per period.
std::optional<double> unified_quota(const std::string& group) {
  const std::string line = first_line(group + "/cpu.max");
  const std::size_t blank = line.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  return ratio(line, std::string_view(line).substr(blank + 1));
}

/// Reads the quota of version 1: the same numbers in two files; -1 means no limit.
std::optional<double> cfs_quota(const std::string& group) {
  return ratio(first_line(group + "/cpu.cfs_quota_us"), first_line(group + "/cpu.cfs_period_us"));
}

/// Mount point of a hierarchy, and the function that reads its quota.
struct Hierarchy {
  std::string_view mount;
  std::optional<double> (*quota)(const std::string& group);
};
constexpr Hierarchy kUnified[] = {{"/sys/fs/cgroup", &unified_quota},
                                  {"/sys/fs/cgroup/unified", &unified_quota}};
constexpr Hierarchy kCpu[] = {{"/sys/fs/cgroup/cpu", &cfs_quota}, {"/sys/fs/cgroup/cpu,cpuacct", &cfs_quota}};

/// A line such as "0::/user.slice" or "4:cpu,cpuacct:/box": hierarchy, controllers, and the group of the
/// process.
struct Membership {
  std::string_view controllers, group;
};

std::optional<Membership> parse_membership(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Membership{line.substr(first + 1, second - first - 1), line.substr(second + 1)};
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view one = controllers.substr(0, controllers.find(','));
    if (one == "cpu") return true;
    controllers.remove_prefix(std::min(one.size() + 1, controllers.size()));
  }
  return false;
}

std::span<const Hierarchy> hierarchies_of(const Membership& membership) {
  if (membership.controllers.empty()) return kUnified;
  if (names_cpu(membership.controllers)) return kCpu;
  return {};
}

/// Returns the minimum of the quotas of a group and its ancestors. In a container, the path of the group may
/// be the host's while only the topmost group is visible.
std::optional<double> min_quota(const std::string& root, const Hierarchy& hierarchy, std::string_view group) {
  std::optional<double> min;
  for (;;) {
    while (group.ends_with('/')) group.remove_suffix(1);
    const auto quota = hierarchy.quota(root + std::string(hierarchy.mount) + std::string(group));
    if (quota && *quota < min.value_or(kMaxProcessors)) min = quota;
    if (group.empty()) return min;
    group = group.substr(0, group.rfind('/') + 1);
  }
}

int read_quota() noexcept {
  try {
    const auto quota = cgroup_quota();
    return quota ? static_cast<int>(std::clamp(std::ceil(*quota), 1.0, double{kMaxProcessors}))
                 : kMaxProcessors;
  } catch (...) {
    return kMaxProcessors;  // out of memory for a path
  }
}

}  // namespace

std::optional<double> cgroup_quota(const std::string& root) {
  std::optional<double> min;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto membership = parse_membership(line);
    if (!membership) continue;
    for (const Hierarchy& hierarchy : hierarchies_of(*membership)) {
      const auto quota = min_quota(root, hierarchy, membership->group);
      if (quota && *quota < min.value_or(kMaxProcessors)) min = quota;
    }
  }
  return min;
}

int quota_processors() noexcept {
  static std::atomic<int> known{
      0};  // not a guarded static: a forked child could find the guard locked forever
  if (known.load(std::memory_order_relaxed) == 0) known.store(read_quota(), std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed);
}

cpu_set_t process_mask() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int places = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
  for (int place = 0; place < places; ++place) {
    std::array<int, kMaxProcessors> ids;
    const int count = omp_get_place_num_procs(place);
    if (count > kMaxProcessors) continue;
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : std::span(ids).first(static_cast<std::size_t>(count)))
      if (id < kMaxProcessors) CPU_SET(static_cast<std::size_t>(id), &mask);
  }
  if (CPU_COUNT(&mask) == 0) ::sched_getaffinity(::getpid(), sizeof mask, &mask);
  return mask;
}

int processors() noexcept {
  const cpu_set_t mask = process_mask();
  const int in_mask = CPU_COUNT(&mask);
  // The mask is empty if the machine has more processors than it can represent.
  return std::clamp(in_mask == 0 ? omp_get_num_procs() : in_mask, 1, quota_processors());
}

}  // namespace sptile::runtime
