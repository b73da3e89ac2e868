// Output that appears whole or not at all.
#pragma once

#include <sys/types.h>
#include <string>

#include "formats/error.hpp"
#include "formats/io/unfinished_files.hpp"

namespace sptile::formats {

/// A temporary file in the folder of its target. `commit` makes it durable and renames it; anything else (an
/// error, a destructor, SIGINT through discard_unfinished_files) removes it. Killed hard, it leaves the old
/// target alone and a temporary that the next writer of the same target removes.
class AtomicFile {
 public:
  /// Creates ".NAME.sptile-PID-SERIAL.tmp" with O_EXCL beside `path`. Refuses an existing target unless
  /// `force` (Errc::usage: "... exists; --force replaces it"), a target that is no regular file (Errc::usage)
  /// and a folder that is missing or not writable (Errc::io). A link is followed: its target is replaced.
  /// Removes stale temporaries of the same target whose process is gone.
  static Result<AtomicFile> create(const std::string& path, bool force);

  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  [[nodiscard]] int fd() const { return fd_; }  ///< open for reading and writing
  [[nodiscard]] const std::string& temporary_path() const { return temporary_; }

  /// fsync, chmod to `mode` less the umask, rename over the target (without replacing when not `force`),
  /// fsync of the folder. Once only; the file is closed afterwards and, on failure, removed.
  Status commit(mode_t mode = 0644);

 private:
  AtomicFile() = default;
  Status publish(mode_t mode);
  void discard() noexcept;

  int fd_ = -1;
  UnfinishedSlot slot_ = kNoSlot;
  bool force_ = false;
  std::string target_, temporary_;
};

/// Removes the temporaries of all unfinished AtomicFiles of this process. Async-signal-safe: for signal
/// handlers.
void discard_unfinished_files() noexcept;

}  // namespace sptile::formats
