// Output folders that appear completely or not at all.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "formats/io/files/unfinished_files.hpp"

namespace sptile::formats {

/// A temporary folder next to its target. `commit` renames it; otherwise (error, destructor, SIGINT through
/// discard_unfinished_files) it is removed with its files. After SIGKILL the old target is intact, and the
/// next writer of the same target removes the temporary. Files are created and removed through the descriptor
/// from its creation, so that a link or folder substituted for it is not touched.
class AtomicFolder {
 public:
  /// Returns whether a file of this name belongs to such a folder. Other files are never removed.
  using Own = bool (*)(std::string_view name);

  /// Creates ".NAME.sptile-RANDOM.tmp" next to `path` and locks it with flock. Errc::usage unless an existing
  /// target is an empty folder or, with `force`, has only its own files; Errc::io if the folder cannot be
  /// created. Removes temporaries of the same target whose writer has ended.
  static Result<AtomicFolder> create(const std::string& path, bool force, Own own);

  AtomicFolder(AtomicFolder&&) noexcept;
  AtomicFolder& operator=(AtomicFolder&&) noexcept;
  ~AtomicFolder();

  /// Creates a file in the folder; see AtomicFile::create_in.
  [[nodiscard]] Result<AtomicFile> create_file(const std::string& name) const;

  /// Returns the final path of a file.
  [[nodiscard]] std::string path_of(std::string_view name) const;

  /// Makes the folder durable and renames it to the target, which it replaces. May be called once.
  Status commit();

 private:
  AtomicFolder() = default;
  bool make_temporary();
  Status check_target(int fd) const;
  Status check_target() const;
  Status replace();
  void discard() noexcept;

  int parent_ = -1, fd_ = -1;
  UnfinishedSlot slot_ = kNoSlot;
  bool force_ = false;
  Own own_ = nullptr;
  std::string path_;                ///< as passed by the caller, for messages
  std::string target_, temporary_;  ///< names in the parent folder
};

}  // namespace sptile::formats
