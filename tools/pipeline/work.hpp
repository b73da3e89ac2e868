// Context of long-running work: seed, progress, messages.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/progress.hpp"

namespace sptile::tools {

/// Context of one run. Messages are dropped unless a derived class overrides them.
struct Work {
  std::uint64_t seed = 1;
  bool copy = false;  ///< read bundles into memory instead of mapping them
  Progress progress;  ///< counts the work, which stops if it is cancelled

  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// Reports a problem with the result.
  virtual void warn(const std::string& /*text*/) const {}
  /// Reports additional information.
  virtual void note(const std::string& /*text*/) const {}
  /// Reports details for verbose output.
  virtual void detail(const std::string& /*text*/) const {}
};

}  // namespace sptile::tools
