// Processors available to this process.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace sptile::runtime {

/// Returns the CPU quota of control groups in processors: the minimum over the process's group and its
/// ancestors, of versions 1 and 2. Reads /proc/self/cgroup and /sys/fs/cgroup below `root`; nullopt if there
/// is no limit or no such file.
std::optional<double> cgroup_quota(const std::string& root = "");

/// Returns the first result of cgroup_quota(), rounded up; kMaxProcessors if there is no limit.
int quota_processors() noexcept;

/// Returns the processors that the process may run on: the affinity mask of its main thread, or the OpenMP
/// places if OpenMP may have bound that thread to one of them.
cpu_set_t process_mask() noexcept;

/// Returns the number of usable processors: those of process_mask, limited by quota_processors; at least 1.
int processors() noexcept;

}  // namespace sptile::runtime
