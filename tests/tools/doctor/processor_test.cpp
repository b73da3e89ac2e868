#include "tools/doctor/processor.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace sptile;
namespace fs = std::filesystem;

namespace {

// A /proc and a /sys made up, in a folder of its own that goes with it.
class Root {
 public:
  Root() {
    std::string name = (fs::temp_directory_path() / "sptile-root-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() { fs::remove_all(path_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((path_ / path).parent_path());
    std::ofstream(path_ / path) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("cores, caches and memory are those that the system tells") {
  const Root root;
  root.write("sys/devices/system/cpu/online", "0-2,5\n");
  for (const int i : {0, 1, 2, 5}) {
    const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/";
    root.write(topology + "physical_package_id", "0\n");
    root.write(topology + "core_id", std::to_string(i / 2) + "\n");
  }
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/index0/";
  root.write(cache + "level", "3\n");
  root.write(cache + "type", "Unified\n");
  root.write(cache + "size", "32M\n");
  root.write(cache + "shared_cpu_list", "0-7\n");
  root.write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:   1 kB\nMemAvailable:    600 kB\n");
  const auto p = tools::doctor::read_processor(root.path());
  CHECK(p.logical == 4);
  CHECK(p.usable >= 1);
  CHECK(p.sockets == 1);
  CHECK(p.cores == 2);
  REQUIRE(p.caches.size() == 1);
  CHECK(p.caches[0].level == 3);
  CHECK(p.caches[0].kind == "Unified");
  CHECK(p.caches[0].bytes == 32 << 20);
  CHECK(p.caches[0].shared_by == 8);
  CHECK(p.memory == 1000 << 10);
  CHECK(p.memory_free == 600 << 10);
  CHECK_FALSE(p.quota.has_value());
  CHECK_FALSE(p.memory_limit.has_value());
}

TEST_CASE("the least of the limits of control groups counts") {
  const Root root;
  root.write("proc/meminfo", "MemTotal: 1000 kB\n");
  root.write("proc/self/cgroup", "1:cpu:/\n0::/box/inner\n");
  root.write("sys/fs/cgroup/box/inner/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/box/inner/memory.max", "700000\n");
  root.write("sys/fs/cgroup/box/cpu.max", "50000 100000\n");
  root.write("sys/fs/cgroup/box/memory.max", "max\n");
  auto p = tools::doctor::read_processor(root.path());
  CHECK(p.quota == 0.5);
  CHECK(p.memory_limit == 700000);
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");  // version 1
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(tools::doctor::read_processor(root.path()).quota == 0.25);
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  CHECK(tools::doctor::read_processor(root.path()).quota == 0.5);
}

TEST_CASE("nothing told, or nonsense, is unknown and no crash") {
  const Root empty;
  auto p = tools::doctor::read_processor(empty.path());
  CHECK(p.logical >= 1);
  CHECK(p.cores == 0);
  CHECK(p.caches.empty());
  CHECK(p.memory == 0);
  const Root odd;
  odd.write("sys/devices/system/cpu/online", "99999999999999999999-1,x,,-,3-2\n");
  odd.write("sys/devices/system/cpu/cpu0/cache/index0/level", "99999999999\n");
  odd.write("sys/devices/system/cpu/cpu0/cache/index0/size", "99999999999999999M\n");
  odd.write("proc/meminfo", "MemTotal:\nMemAvailable: 9223372036854775807 kB\n");
  odd.write("sys/fs/cgroup/cpu.max", "1 0\n");
  p = tools::doctor::read_processor(odd.path());
  CHECK(p.logical >= 1);
  CHECK_FALSE(p.quota.has_value());
  REQUIRE(p.caches.size() == 1);
  CHECK(p.caches[0].bytes > 0);
  CHECK(p.memory == 0);
  CHECK(p.memory_free > 0);
}

TEST_CASE("the version of NVIDIA's driver is found in its line") {
  const Root root;
  CHECK(tools::doctor::nvidia_module(root.path()).empty());
  root.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12\n");
  CHECK(tools::doctor::nvidia_module(root.path()) == "580.65.06");
  root.write("proc/driver/nvidia/version", "nothing like it  \n");
  CHECK(tools::doctor::nvidia_module(root.path()).empty());
}
