#include "runtime/threads/processors.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/child_process.hpp"
#include "tests/temporary_folder.hpp"

namespace sptile::runtime {
namespace {

namespace fs = std::filesystem;

/// Files of /proc and /sys below a temporary folder.
class Root {
 public:
  explicit Root(const std::string& groups) { write("proc/self/cgroup", groups); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  /// Writes a quota of version 1.
  void write_cfs(const std::string& group, const std::string& quota, const std::string& period) const {
    write(group + "/cpu.cfs_quota_us", quota + "\n");
    write(group + "/cpu.cfs_period_us", period + "\n");
  }
  [[nodiscard]] std::optional<double> quota() const { return cgroup_quota(folder_.path().string()); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("cgroup quota: none without a group, a file or a limit") {
  CHECK_FALSE(Root("").quota());
  CHECK_FALSE(Root("0::/a\n").quota());
  const Root unlimited("0::/a\n");
  unlimited.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  CHECK_FALSE(unlimited.quota());
  CHECK_FALSE(cgroup_quota("/no/such/folder"));
}

TEST_CASE("cgroup quota: version 2 takes the minimum of the group and all above it") {
  const Root root("0::/slice/box/inner\n");
  root.write("sys/fs/cgroup/slice/box/inner/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/slice/box/cpu.max", "350000 100000\n");
  CHECK(root.quota() == 3.5);
  root.write("sys/fs/cgroup/slice/cpu.max", "50000 100000\n");
  CHECK(root.quota() == 0.5);
  root.write("sys/fs/cgroup/slice/box/inner/cpu.max", "20000 100000\n");
  CHECK(root.quota() == 0.2);
}

TEST_CASE("cgroup quota: a container sees its limits in the topmost group") {
  const Root root("0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(root.quota() == 2);
  const Root host_path("0::/docker/0123456789abcdef\n");  // the path of the host, which is not mounted
  host_path.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(host_path.quota() == 2);
}

TEST_CASE("cgroup quota: version 1, under both names of the controller") {
  for (const std::string mount : {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}) {
    CAPTURE(mount);
    const Root root("11:memory:/other\n4:cpu,cpuacct:/box\n1:name=systemd:/box\n");
    root.write_cfs(mount + "/box", "150000", "100000");
    root.write_cfs(mount + "/other", "10000", "100000");  // of another controller
    CHECK(root.quota() == 1.5);
    root.write_cfs(mount, "100000", "100000");
    CHECK(root.quota() == 1);
    root.write_cfs(mount + "/box", "-1", "100000");
    root.write_cfs(mount, "-1", "100000");
    CHECK_FALSE(root.quota());
  }
}

TEST_CASE("cgroup quota: both versions at once") {
  const Root root("4:cpu:/box\n0::/box\n");
  root.write_cfs("sys/fs/cgroup/cpu/box", "300000", "100000");
  root.write("sys/fs/cgroup/unified/box/cpu.max", "400000 100000\n");
  CHECK(root.quota() == 3);
  root.write("sys/fs/cgroup/unified/box/cpu.max", "250000 100000\n");
  CHECK(root.quota() == 2.5);
}

TEST_CASE("cgroup quota: malformed files set no limit") {
  for (const std::string text :
       {"", "\n", "100000", "100000 \n", "x 100000\n", "100000 0\n", "-5 100000\n"}) {
    CAPTURE(text);
    const Root root("0::/\n");
    root.write("sys/fs/cgroup/cpu.max", text);
    CHECK_FALSE(root.quota());
  }
  for (const std::string line : {"", ":", "::", "0:", "4:cpu", "4:cpuset:/", "garbage"}) {
    CAPTURE(line);
    const Root root(line + "\n");
    root.write_cfs("sys/fs/cgroup/cpu", "50000", "100000");
    CHECK_FALSE(root.quota());
  }
}

TEST_CASE("processors: those of the affinity mask, at least one, at most the quota") {
  CHECK(processors() >= 1);
  CHECK(processors() <= quota_processors());
  CHECK(in_child([] {
          cpu_set_t mask = process_mask();
          int first = 0;
          while (!CPU_ISSET(static_cast<std::size_t>(first), &mask)) ++first;
          CPU_ZERO(&mask);
          CPU_SET(static_cast<std::size_t>(first), &mask);
          if (::sched_setaffinity(0, sizeof mask, &mask) != 0) ::_exit(1);
          if (processors() != 1) ::_exit(2);
        }) == 0);
}

}  // namespace sptile::runtime
