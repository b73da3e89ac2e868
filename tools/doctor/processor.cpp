#include "tools/doctor/processor.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/threads/processors.hpp"
#include "runtime/threads/system_file.hpp"

namespace sptile::tools::doctor {
namespace {

namespace fs = std::filesystem;
using runtime::first_line;
using runtime::leading_number;

constexpr int kMaxCaches = 32, kMaxProcessors = 1 << 16, kMaxGroups = 64;

// Parses a size as in /sys, such as "32K" or "16M".
std::int64_t size_in_bytes(const std::string& text) {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  const std::int64_t value = std::min(leading_number(text).value_or(0), kMax);
  const char unit = text.empty() ? ' ' : text.back();
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

// Counts the processors in a set as in /sys, such as "0-3,8".
int count_in_set(std::string_view set) {
  std::int64_t count = 0;
  while (!set.empty()) {
    const std::string_view range = set.substr(0, set.find(','));
    set.remove_prefix(std::min(range.size() + 1, set.size()));
    const auto first = leading_number(range);
    const std::size_t dash = range.find('-');
    const auto last = dash == std::string_view::npos ? first : leading_number(range.substr(dash + 1));
    if (first && last && *first <= *last && *last < kMaxProcessors) count += *last - *first + 1;
  }
  return static_cast<int>(std::min<std::int64_t>(count, kMaxProcessors));
}

std::vector<Cache> read_caches(const fs::path& processors) {
  std::vector<Cache> caches;
  for (int i = 0; i < kMaxCaches; ++i) {
    const fs::path place = processors / "cpu0/cache" / fmt::format("index{}", i);
    const auto level = leading_number(first_line(place / "level"));
    if (!level) break;
    caches.push_back({static_cast<int>(std::min<std::int64_t>(*level, 9)), first_line(place / "type"),
                      size_in_bytes(first_line(place / "size")),
                      std::max(count_in_set(first_line(place / "shared_cpu_list")), 1)});
  }
  return caches;
}

void count_cores(const fs::path& processors, Processor& found) {
  std::set<std::int64_t> sockets;
  std::set<std::pair<std::int64_t, std::int64_t>> cores;
  for (int i = 0; i < std::min(found.logical, kMaxProcessors); ++i) {
    const fs::path topology = processors / fmt::format("cpu{}", i) / "topology";
    const auto socket = leading_number(first_line(topology / "physical_package_id"));
    const auto core = leading_number(first_line(topology / "core_id"));
    if (!socket || !core) continue;
    sockets.insert(*socket);
    cores.emplace(*socket, *core);
  }
  found.cores = static_cast<int>(cores.size());
  found.sockets = static_cast<int>(sockets.size());
}

std::int64_t memory_line(const fs::path& root, std::string_view name) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    const auto kib = digits == std::string::npos ? std::nullopt : leading_number(line.substr(digits));
    return std::min(kib.value_or(0), std::int64_t{1} << 50) << 10;
  }
  return 0;
}

// Returns the control group of this process and its ancestors, the root last.
std::vector<fs::path> control_groups(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  fs::path group = "/";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/")) group = line.substr(3);
  std::vector<fs::path> groups;
  for (; group != group.root_path() && groups.size() < kMaxGroups; group = group.parent_path())
    groups.push_back(mount / group.relative_path());
  groups.push_back(mount);
  return groups;
}

void read_limits(const fs::path& root, Processor& found) {
  const auto quota = runtime::cgroup_quota(root.string());
  if (quota && *quota < found.usable) found.quota = quota;
  const auto take = [&](std::optional<std::int64_t> memory) {
    if (memory && *memory < found.memory_limit.value_or(found.memory)) found.memory_limit = memory;
  };
  take(leading_number(first_line(root / "sys/fs/cgroup/memory/memory.limit_in_bytes")));
  for (const fs::path& group : control_groups(root)) take(leading_number(first_line(group / "memory.max")));
}

// Returns the value of PRETTY_NAME="..." in /etc/os-release.
std::string pretty_name() {
  constexpr std::string_view kKey = "PRETTY_NAME=\"";
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kKey)) return line.substr(kKey.size(), line.rfind('"') - kKey.size());
  return {};
}

}  // namespace

Processor read_processor(const fs::path& root) {
  const fs::path processors = root / "sys/devices/system/cpu";
  Processor found;
  found.logical = count_in_set(first_line(processors / "online"));
  if (found.logical == 0)
    found.logical = static_cast<int>(std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, 1L << 16));
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  found.usable = known ? CPU_COUNT(&allowed) : found.logical;
  count_cores(processors, found);
  found.caches = read_caches(processors);
  found.memory = memory_line(root, "MemTotal:");
  found.memory_free = memory_line(root, "MemAvailable:");
  read_limits(root, found);
  return found;
}

std::string system_name() {
  utsname name{};
  if (::uname(&name) != 0) return pretty_name();
  const std::string system = pretty_name();
  return fmt::format("{}{}{} {}, {}", system, system.empty() ? "" : ", ", name.sysname, name.release,
                     name.machine);
}

std::string nvidia_module(const fs::path& root) {
  const std::string line = first_line(root / "proc/driver/nvidia/version");
  constexpr std::string_view kDigits = "0123456789.";
  for (std::size_t at = line.find("  "); at != std::string::npos; at = line.find(' ', at)) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos) break;
    const std::string word = line.substr(at, line.find(' ', at) - at);
    if (word.find('.') != std::string::npos && word.find_first_not_of(kDigits) == std::string::npos)
      return word;
  }
  return {};
}

}  // namespace sptile::tools::doctor
