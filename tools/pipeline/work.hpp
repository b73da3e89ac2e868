// What long work is given beside its task: a seed, a place to count, somebody to tell.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/progress.hpp"

namespace sptile::tools {

/// One run of something that takes long. Nobody listens unless a class of its own does.
struct Work {
  std::uint64_t seed = 1;
  bool copy = false;  ///< bundles are read into memory instead of being mapped
  Progress progress;  ///< work counts here, and stops when it is cancelled

  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// Says that the result is not all it should be.
  virtual void warn(const std::string& /*text*/) const {}
  /// Says something beside the result.
  virtual void note(const std::string& /*text*/) const {}
  /// The same, for those who want to know everything.
  virtual void detail(const std::string& /*text*/) const {}
};

}  // namespace sptile::tools
