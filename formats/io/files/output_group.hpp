// Outputs that belong together: all of them appear, or none.
#pragma once

#include <concepts>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::formats {

class AtomicFile;
class OutputGroup;

/// How an output takes its name: whether it may replace a file, and with which others.
struct Placing {
  template <std::same_as<bool> Flag>
  Placing(Flag may_replace, OutputGroup* with = nullptr)  // NOLINT: a flag alone is the usual case
      : force(may_replace), group(with) {}

  bool force;
  OutputGroup* group;  ///< takes the file when it is committed, and gives it its name later; nullptr: at once
};

/// Files that were committed to the group wait, complete and durable, for its commit. Dropped without it,
/// they are removed.
class OutputGroup {
 public:
  OutputGroup();
  OutputGroup(OutputGroup&&) noexcept;
  OutputGroup& operator=(OutputGroup&&) noexcept;
  ~OutputGroup();

  /// Gives all files their names, one right after the other. If one of them fails, those before it are taken
  /// back and what they replaced returns, where the file system can exchange or link files: nearly all can.
  /// Only a process that is killed between two names leaves new files beside old ones.
  Status commit();

 private:
  friend class AtomicFile;
  std::vector<AtomicFile> files_;
};

}  // namespace sptile::formats
