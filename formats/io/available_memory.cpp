#include "formats/io/available_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace sptile::formats {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::int64_t of_machine() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    std::int64_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) return kibibytes * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnknown;
}

std::int64_t of_control_group() {
  std::int64_t limit = 0, used = 0;
  const bool known = std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&  // "max" is no number
                     std::ifstream("/sys/fs/cgroup/memory.current") >> used;
  return known ? std::max<std::int64_t>(0, limit - used) : kUnknown;
}

}  // namespace

std::int64_t available_memory() { return std::min(of_machine(), of_control_group()); }

Status check_memory(const std::string& what, std::int64_t bytes, std::int64_t available) {
  if (bytes <= available) return {};
  constexpr double kGiB = 1 << 30;
  return fail(Errc::io,
              fmt::format("{} need {:.1f} GiB of memory; {:.1f} GiB are available", what,
                          static_cast<double>(bytes) / kGiB, static_cast<double>(available) / kGiB));
}

}  // namespace sptile::formats
