// Output that appears whole or not at all.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/files/output_group.hpp"
#include "formats/io/files/unfinished_files.hpp"

namespace sptile::formats {

/// A temporary file in the folder of its target. `commit` makes it durable and renames it; anything else (an
/// error, a destructor, SIGINT through discard_unfinished_files) removes it. Killed hard, it leaves the old
/// target alone and a temporary that the next writer of the same target removes. It is opened once, when it
/// is created, and everything goes through that descriptor: nobody can put another file in its place.
class AtomicFile {
 public:
  /// Creates ".NAME.sptile-RANDOM.tmp" with O_EXCL beside `path`; of NAME the first 100 bytes. Refuses an
  /// existing target unless `force` (Errc::usage: "... exists; --force replaces it"), a target that is no
  /// regular file (Errc::usage) and a folder that is missing or not writable (Errc::io). A link is followed:
  /// its target is replaced. Removes temporaries of the same target whose writer is gone, in whatever
  /// process, container or host of this file system: a writer holds a lock on its temporary while it lives.
  /// Where the file system has no locks, temporaries of others are left alone.
  static Result<AtomicFile> create(const std::string& path, Placing placing);

  /// Creates a file of that name in a folder that is open as `folder`, wherever that is by now; one that
  /// exists is not replaced. `path` names it in messages.
  static Result<AtomicFile> create_in(int folder, const std::string& name, const std::string& path);

  /// Creates a file to replace the one at `path`, which is open as `fd`: Errc::io, now or by `commit`, where
  /// something else has that name.
  static Result<AtomicFile> replace(int fd, const std::string& path);

  /// Takes an empty file that its owner has open for reading and writing as `fd`, for example one in memory:
  /// it is written where it is, `commit` only closes our descriptor of it. Errc::usage for anything else.
  static Result<AtomicFile> borrow(int fd, const std::string& name);

  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  [[nodiscard]] int fd() const { return fd_; }  ///< open for reading and writing

  /// Writes all of it where the file stands; Errc::io otherwise.
  Status write(std::string_view bytes);

  /// fsync, chmod to `mode` less the umask, rename over the target (without replacing when not `force`),
  /// fsync of the folder. Once only; the file is closed afterwards and, on failure, removed. Errc::io when
  /// the temporary is no longer the file that was created. In a group the rename is left to its commit.
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
  void take_back() noexcept;
  Status settle();
  void discard() noexcept;

  int folder_ = -1, fd_ = -1;
  int replaced_ = -1;  ///< the file that has the name and no other may; -1: any
  UnfinishedSlot slot_ = kNoSlot;
  OutputGroup* group_ = nullptr;
  bool force_ = false;
  bool borrowed_ = false;
  bool lost_old_ = false;  ///< it has replaced a file that is gone
  std::string path_;       ///< as the caller named it, for messages
  std::string target_,
      temporary_;  ///< names in the folder; placed, the temporary is what was replaced, if any
};

/// Removes the temporaries of all unfinished AtomicFiles of this process. Async-signal-safe: for signal
/// handlers.
void discard_unfinished_files() noexcept;

}  // namespace sptile::formats
