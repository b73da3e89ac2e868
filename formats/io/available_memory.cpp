#include "formats/io/available_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

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

// What ulimit -v leaves.
std::int64_t of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  std::int64_t pages = 0;
  if (!(std::ifstream("/proc/self/statm") >> pages)) return kUnknown;
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kUnknown));
  return std::max<std::int64_t>(0, most - pages * ::sysconf(_SC_PAGESIZE));
}

std::string amount(std::int64_t bytes) {
  constexpr double kMiB = 1 << 20;
  const double mebibytes = static_cast<double>(bytes) / kMiB;
  return mebibytes < 1024 ? fmt::format("{:.1f} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace

std::int64_t available_memory() { return std::min({of_machine(), of_control_group(), of_address_space()}); }

Status check_memory(const std::string& what, std::int64_t bytes, std::int64_t available) {
  if (bytes <= available) return {};
  return fail(Errc::io,
              fmt::format("{} need {} of memory; {} are available", what, amount(bytes), amount(available)));
}

Status check_row_memory(std::int64_t rows, std::int64_t bytes_per_row) {
  return check_memory(fmt::format("the arrays of {} rows", rows), bytes_per_row * (rows + 1),
                      available_memory());
}

}  // namespace sptile::formats
