// Output files that appear completely or not at all.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/files/output_group.hpp"
#include "formats/io/files/unfinished_files.hpp"

namespace sptile::formats {

/// A temporary file in the folder of its target. `commit` makes it durable and renames it; otherwise (error,
/// destructor, SIGINT through discard_unfinished_files) it is removed. After SIGKILL the old target is
/// intact, and the next writer of the same target removes the temporary. All accesses use the descriptor from
/// its creation, so that no other file can be substituted.
class AtomicFile {
 public:
  /// Creates ".NAME.sptile-RANDOM.tmp" in the folder of `path` with O_EXCL; NAME is truncated to 100 bytes.
  /// Errc::usage if the target exists and `force` is not set ("... exists; --force replaces it") or is not a
  /// regular file; Errc::io if the folder is missing or not writable. Follows a link and replaces its target.
  /// Removes temporaries of the same target whose writer has ended, in any process, container or host of this
  /// file system: a live writer holds a lock on its temporary. On file systems without locks, temporaries of
  /// other writers are kept.
  static Result<AtomicFile> create(const std::string& path, Placing placing);

  /// Creates a new file `name` in the open folder `folder`, even if the folder was moved; never replaces an
  /// existing file. `path` names it in messages.
  static Result<AtomicFile> create_in(int folder, const std::string& name, const std::string& path);

  /// Creates a file to replace the one at `path`, which is open as `fd`. Errc::io, here or from `commit`, if
  /// the path now names another file.
  static Result<AtomicFile> replace(int fd, const std::string& path);

  /// Uses an empty file that the caller has open for reading and writing as `fd`, for example in memory. It
  /// is written in place, and `commit` only closes a duplicate of the descriptor. Errc::usage if it is not an
  /// empty file.
  static Result<AtomicFile> borrow(int fd, const std::string& name);

  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  [[nodiscard]] int fd() const { return fd_; }  ///< open for reading and writing

  /// Writes all bytes at the current position; Errc::io on failure.
  Status write(std::string_view bytes);

  /// Syncs the file, sets its mode to `mode` & ~umask, renames it to the target (without replacing a file
  /// unless `force`) and syncs the folder. May be called once; the file is closed and, on failure, removed.
  /// Errc::io if the temporary name no longer refers to this file. In a group, the group's commit renames it.
  Status commit(mode_t mode = 0644);

 private:
  friend class OutputGroup;

  AtomicFile() = default;
  static Result<AtomicFile> begin(int folder, std::string name, const std::string& path, Placing placing);
  bool open_temporary();
  void drop_temporary() noexcept;
  Status prepare(mode_t mode);
  Status place(bool keep_old);
  bool place_and_keep();
  void roll_back() noexcept;
  Status settle();
  void discard() noexcept;

  int folder_ = -1, fd_ = -1;
  int replaced_ = -1;  ///< descriptor of the only file that may be replaced; -1: any file
  UnfinishedSlot slot_ = kNoSlot;
  OutputGroup* group_ = nullptr;
  bool force_ = false;
  bool borrowed_ = false;
  bool lost_old_ = false;  ///< the replaced file was not kept
  std::string path_;       ///< as passed by the caller, for messages
  std::string target_,
      temporary_;  ///< names in the folder; after place(), the temporary is the replaced file
};

/// Removes the temporaries of all unfinished AtomicFiles of this process. Async-signal-safe.
void discard_unfinished_files() noexcept;

}  // namespace sptile::formats
