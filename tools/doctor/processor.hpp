// What the system says of the processor and the memory, and how much of both this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sptile::tools::doctor {

struct Cache {
  int level = 0;
  std::string kind;  ///< "Data", "Instruction", "Unified"
  std::int64_t bytes = 0;
  int shared_by = 1;  ///< logical processors
};

struct Processor {
  int logical = 0;               ///< logical processors that are on
  int usable = 0;                ///< of them, those that this process may run on
  int cores = 0, sockets = 0;    ///< 0: the system does not tell
  std::optional<double> quota;   ///< processors' worth of time that control groups allow; none: all
  std::vector<Cache> caches;     ///< of the first processor
  std::int64_t memory = 0;       ///< bytes; 0: the system does not tell
  std::int64_t memory_free = 0;  ///< that could be had without swapping
  std::optional<std::int64_t> memory_limit;  ///< of control groups, where it is below `memory`
};

/// Reads /proc and /sys below `root`. What is not there, or not as expected, stays unknown.
Processor read_processor(const std::filesystem::path& root = "/");

/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64, x86_64".
std::string system_name();

/// Version of NVIDIA's driver, "580.65.06"; empty where its module is not loaded.
std::string nvidia_module(const std::filesystem::path& root = "/");

}  // namespace sptile::tools::doctor
