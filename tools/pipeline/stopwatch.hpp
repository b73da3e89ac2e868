// Wall-clock time of a phase.
#pragma once

#include <chrono>

namespace sptile::tools {

/// Measures from construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sptile::tools
