#include "formats/io/files/available_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace sptile::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::atomic<std::int64_t> limit_of_process{kUnknown};

std::int64_t of_machine(const fs::path& root) {
  std::ifstream meminfo(root / "proc/meminfo");
  for (std::string key; meminfo >> key;) {
    std::int64_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes)
      return std::clamp<std::int64_t>(kibibytes, 0, kUnknown / 1024) * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnknown;
}

/// Differences between the versions of control groups: line of /proc/self/cgroup, mount point, and files of a
/// group.
struct GroupFiles {
  std::string_view line;
  const char *mount, *limit, *used;
  std::string_view caches[2];  ///< fields of memory.stat
};
constexpr GroupFiles kGroupFiles[] = {
    {"::/", "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {":memory:/",
     "sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

std::optional<std::int64_t> number_in(const fs::path& file) {
  std::int64_t number = 0;
  return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;  // "max" is not a number
}

std::int64_t dropped_caches(const fs::path& group, const GroupFiles& files) {
  std::ifstream stat(group / "memory.stat");
  std::string key;
  std::int64_t total = 0, bytes = 0;
  while (stat >> key >> bytes)
    if (std::ranges::find(files.caches, key) != std::end(files.caches)) total += bytes;
  return total;
}

std::int64_t left_in(const fs::path& group, const GroupFiles& files) {
  const auto limit = number_in(group / files.limit), used = number_in(group / files.used);
  if (!limit || !used) return kUnknown;
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - dropped_caches(group, files)));
}

/// Returns the minimum over this process's group and its ancestors. Paths that are not visible in a container
/// count as unlimited.
std::int64_t of_control_groups(const fs::path& root, const GroupFiles& files) {
  fs::path group = "/";
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find(files.line); at != std::string::npos)
      group = line.substr(at + files.line.size() - 1);
  const fs::path mount = root / files.mount;
  std::int64_t left = left_in(mount, files);
  for (; group.has_relative_path(); group = group.parent_path())
    left = std::min(left, left_in(mount / group.relative_path(), files));
  return left;
}

// Returns the bytes left below the limit of ulimit -v.
std::int64_t of_address_space(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  const auto pages = number_in(root / "proc/self/statm");
  if (!pages) return kUnknown;
  const auto max = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kUnknown));
  return std::max<std::int64_t>(0, max - *pages * ::sysconf(_SC_PAGESIZE));
}

std::string amount(std::int64_t bytes) {
  constexpr double kMiB = 1 << 20;
  const double mebibytes = static_cast<double>(bytes) / kMiB;
  return mebibytes < 1024 ? fmt::format("{:.1f} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace

std::int64_t available_memory(const std::string& root) {
  if (const std::int64_t limit = limit_of_process.load(); limit != kUnknown) return limit;
  std::int64_t available = std::min(of_machine(root), of_address_space(root));
  for (const GroupFiles& files : kGroupFiles) available = std::min(available, of_control_groups(root, files));
  return available;
}

MemoryLimit::MemoryLimit(std::int64_t bytes) { limit_of_process = bytes; }
MemoryLimit::~MemoryLimit() { limit_of_process = kUnknown; }

Status check_memory(const std::string& what, std::int64_t bytes, std::int64_t available) {
  if (bytes <= available) return {};
  return fail(Errc::io, fmt::format("{} need {} of memory, but only {} is available", what, amount(bytes),
                                    amount(available)));
}

Status check_row_memory(std::int64_t rows, std::int64_t bytes_per_row) {
  return check_memory(fmt::format("the arrays of {} rows", rows), bytes_per_row * (rows + 1),
                      available_memory());
}

}  // namespace sptile::formats
