// Output files that appear together or not at all.
#pragma once

#include <concepts>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::formats {

class AtomicFile;
class OutputGroup;

/// Placement of an output: whether it may replace a file, and its group.
struct Placing {
  template <std::same_as<bool> Flag>
  Placing(Flag may_replace, OutputGroup* with = nullptr)  // NOLINT: implicit for callers that pass only a
                                                          // flag
      : force(may_replace), group(with) {}

  bool force;
  OutputGroup* group;  ///< renames the file in its own commit; nullptr: renamed at once
};

/// Collects complete, durable files until its commit renames them. Without a commit, the destructor removes
/// them.
class OutputGroup {
 public:
  OutputGroup();
  OutputGroup(OutputGroup&&) noexcept;
  OutputGroup& operator=(OutputGroup&&) noexcept;
  ~OutputGroup();

  /// Renames all files in immediate succession. If one fails, the previous ones are undone and the replaced
  /// files restored, provided that the file system can exchange or link files, as nearly all can. Only a
  /// process killed between two renames leaves new and old files together.
  Status commit();

 private:
  friend class AtomicFile;
  std::vector<AtomicFile> files_;
};

}  // namespace sptile::formats
