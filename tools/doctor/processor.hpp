// Processor and memory as reported by the system, and the share that this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sptile::tools::doctor {

struct Cache {
  int level = 0;
  std::string kind;  ///< "Data", "Instruction" or "Unified"
  std::int64_t bytes = 0;
  int shared_by = 1;  ///< logical processors
};

struct Processor {
  int logical = 0;                           ///< online logical processors
  int usable = 0;                            ///< logical processors that this process may run on
  int cores = 0, sockets = 0;                ///< 0: not reported by the system
  std::optional<double> quota;               ///< CPU quota of control groups in processors; nullopt: no limit
  std::vector<Cache> caches;                 ///< caches of the first processor
  std::int64_t memory = 0;                   ///< bytes; 0: not reported by the system
  std::int64_t memory_free = 0;              ///< available without swapping
  std::optional<std::int64_t> memory_limit;  ///< limit of control groups, if below `memory`
};

/// Reads /proc and /sys below `root`. Missing or unexpected values stay unset.
Processor read_processor(const std::filesystem::path& root = "/");

/// Returns a name such as "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64, x86_64".
std::string system_name();

/// Returns the version of the NVIDIA driver, such as "580.65.06"; empty if its module is not loaded.
std::string nvidia_module(const std::filesystem::path& root = "/");

}  // namespace sptile::tools::doctor
