// Processors that this process may use.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace sptile::runtime {

/// Returns the processors' worth of time that control groups allow this process: the minimum over its group
/// and all groups above it, of versions 1 and 2. Reads /proc/self/cgroup and /sys/fs/cgroup below `root`;
/// none if there is no limit or no such file.
std::optional<double> cgroup_quota(const std::string& root = "");

/// Returns cgroup_quota() of the first call, rounded up; a number above any real one where there is none.
int quota_processors() noexcept;

/// Returns the processors that the process may run on: the affinity mask of its main thread, or the places of
/// OpenMP, which may have bound that thread to one of them.
cpu_set_t process_mask() noexcept;

/// Returns the number of processors that are worth a thread each: those of process_mask, limited by
/// quota_processors; at least 1.
int processors() noexcept;

}  // namespace sptile::runtime
