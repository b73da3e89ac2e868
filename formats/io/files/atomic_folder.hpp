// A folder of files that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "formats/io/files/unfinished_files.hpp"

namespace sptile::formats {

/// A temporary folder beside its target. `commit` renames it; anything else (an error, a destructor, SIGINT
/// through discard_unfinished_files) removes it with all files in it. Killed hard, it leaves the old target
/// alone and a temporary that the next writer of the same target removes. It is opened once, when it is made,
/// and its files are created and removed through that descriptor: a link or another folder that somebody puts
/// in its place gets none of them.
class AtomicFolder {
 public:
  /// Tells the files that such a folder is made of, by their names: no others are ever removed.
  using Own = bool (*)(std::string_view name);

  /// Creates ".NAME.sptile-RANDOM.tmp" beside `path`, and holds a lock on it (flock). A target that exists
  /// must be an empty folder, or with `force` one that has its own files only: else Errc::usage. Errc::io
  /// where nothing can be created. Removes temporaries of the same target whose writer is gone.
  static Result<AtomicFolder> create(const std::string& path, bool force, Own own);

  AtomicFolder(AtomicFolder&&) noexcept;
  AtomicFolder& operator=(AtomicFolder&&) noexcept;
  ~AtomicFolder();

  /// Begins a file of it; as AtomicFile::create_in.
  [[nodiscard]] Result<AtomicFile> create_file(const std::string& name) const;

  /// Returns the path that a file will have.
  [[nodiscard]] std::string path_of(std::string_view name) const;

  /// Makes the folder durable and gives it its name, in place of what has it. Once only.
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
  std::string path_;                ///< as the caller named it, for messages
  std::string target_, temporary_;  ///< names in the parent
};

}  // namespace sptile::formats
