#include "formats/io/files/atomic_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "formats/io/files/system_error.hpp"
#include "formats/io/files/temporary_name.hpp"

namespace sptile::formats {
namespace {

constexpr int kMaxNames = 100;  // temporary names to try

int open_folder(int parent, const char* name) {
  return ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Returns the names in a folder, except "." and "..".
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closed by closedir
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!entries) return names;
  while (const dirent* entry = ::readdir(entries.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  return names;
}

// Returns whether `name` is a finished or temporary file of such a folder.
bool belongs(std::string_view name, AtomicFolder::Own own) {
  const std::size_t mark = name.find(".sptile-");
  return own(name) || (name.starts_with('.') && mark != std::string_view::npos && mark > 0 &&
                       is_temporary_of(name.substr(1, mark - 1), name) && own(name.substr(1, mark - 1)));
}

void remove_files_in(int fd, AtomicFolder::Own own) {
  for (const std::string& file : names_in(fd))
    if (belongs(file, own)) ::unlinkat(fd, file.c_str(), 0);
}

// Removes the folder open as `fd` with its own files. If it has other files, it is kept.
void remove_folder(int parent, const char* name, int fd, AtomicFolder::Own own) {
  remove_files_in(fd, own);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

void remove_stale(int parent, const std::string& target, AtomicFolder::Own own) {
  for (const std::string& name : names_in(parent)) {
    if (!is_temporary_of(target, name)) continue;
    const int fd = open_folder(parent, name.c_str());
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(parent, name.c_str(), fd))
      remove_folder(parent, name.c_str(), fd, own);
    ::close(fd);
  }
}

// Resolves symbolic links; returns the path unchanged if it does not exist.
std::string real_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

Result<AtomicFolder> AtomicFolder::create(const std::string& path, bool force, Own own) {
  SplitPath parts = split_path(real_path(path));
  if (parts.name.empty() || parts.name == "." || parts.name == "..")
    return fail(Errc::usage, "is not a valid directory name", path);
  AtomicFolder folder;
  folder.force_ = force;
  folder.own_ = own;
  folder.path_ = path;
  folder.target_ = std::move(parts.name);
  folder.parent_ =
      ::open(parts.folder.empty() ? "." : parts.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.parent_ < 0) return system_failure(errno, "cannot create a directory there", path);
  if (Status s = folder.check_target(); !s) return tl::unexpected(std::move(s.error()));
  remove_stale(folder.parent_, folder.target_, own);
  for (int tried = 0; tried < kMaxNames; ++tried) {
    if (folder.make_temporary()) return folder;
    if (errno != EEXIST) break;
  }
  return system_failure(errno, "cannot create a temporary directory next to it", path);
}

Status AtomicFolder::check_target() const {
  struct stat status {};
  if (::fstatat(parent_, target_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Status() : system_failure(errno, "cannot examine it", path_);
  if (!S_ISDIR(status.st_mode)) return fail(Errc::usage, "is not a directory", path_);
  const int fd = open_folder(parent_, target_.c_str());
  if (fd < 0) return system_failure(errno, "cannot read it", path_);
  Status s = check_target(fd);
  ::close(fd);
  return s;
}

Status AtomicFolder::check_target(int fd) const {
  const std::vector<std::string> names = names_in(fd);
  if (!names.empty() && !force_) return fail(Errc::usage, "directory exists; --force replaces it", path_);
  for (const std::string& name : names)
    if (!belongs(name, own_))
      return fail(Errc::usage,
                  "has other files, such as " + name + ", so it is not replaced; name another directory",
                  path_);
  return {};
}

// Creates and locks a temporary folder; errno EEXIST requests a retry, as in AtomicFile.
bool AtomicFolder::make_temporary() {
  temporary_ = random_temporary(target_);
  const char* const name = temporary_.c_str();
  slot_ = enlist_unfinished(parent_, temporary_);  // before creation, because a signal may arrive in between
  if (::mkdirat(parent_, name, 0777) == 0) {
    fd_ = open_folder(parent_, name);
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) == 0 && is_still(parent_, name, fd_)) {
      open_unfinished(slot_, fd_);
      return true;
    }
    errno = fd_ < 0 && errno != ENOENT ? errno : EEXIST;
  }
  const int errnum = errno;
  temporary_.clear();  // a folder with that name is not ours
  delist_unfinished(std::exchange(slot_, kNoSlot));
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  errno = errnum;
  return false;
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept { *this = std::move(other); }

AtomicFolder& AtomicFolder::operator=(AtomicFolder&& other) noexcept {
  if (this == &other) return *this;
  discard();
  parent_ = std::exchange(other.parent_, -1);
  fd_ = std::exchange(other.fd_, -1);
  slot_ = std::exchange(other.slot_, kNoSlot);
  force_ = other.force_;
  own_ = other.own_;
  path_ = std::exchange(other.path_, {});
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

AtomicFolder::~AtomicFolder() { discard(); }

void AtomicFolder::discard() noexcept {
  try {
    if (!temporary_.empty()) remove_folder(parent_, temporary_.c_str(), fd_, own_);
  } catch (const std::bad_alloc&) {  // while listing names; the next run removes the folder
  }
  temporary_.clear();
  delist_unfinished(std::exchange(slot_, kNoSlot));
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));  // releases the lock
  if (parent_ >= 0) ::close(std::exchange(parent_, -1));
}

Result<AtomicFile> AtomicFolder::create_file(const std::string& name) const {
  return AtomicFile::create_in(fd_, name, path_of(name));
}

std::string AtomicFolder::path_of(std::string_view name) const { return path_ + "/" + std::string(name); }

// Renames over an empty or missing folder. A nonempty folder is exchanged with the new one and then removed.
Status AtomicFolder::replace() {
  const char *from = temporary_.c_str(), *to = target_.c_str();
  if (::renameat(parent_, from, parent_, to) == 0) {
    temporary_.clear();
    return {};
  }
  if (errno != ENOTEMPTY && errno != EEXIST) return system_failure(errno, "cannot rename", path_);
  const int old = open_folder(parent_, to);
  if (old < 0) return system_failure(errno, "cannot read it", path_);
  if (Status s = check_target(old); !s) {
    ::close(old);
    return s;
  }
  open_unfinished(slot_, old);  // the exchange gives it the temporary name
  const bool swapped = ::renameat2(parent_, from, parent_, to, RENAME_EXCHANGE) == 0;
  const int errnum = errno;
  if (swapped) remove_folder(parent_, from, old, own_);
  delist_unfinished(std::exchange(slot_, kNoSlot));  // before the folder is closed
  ::close(old);
  if (!swapped) return system_failure(errnum, "cannot replace the old directory; remove it", path_);
  temporary_.clear();
  return {};
}

Status AtomicFolder::commit() {
  if (::fsync(fd_) != 0 && errno != EINVAL) return system_failure(errno, "cannot write to disk", path_);
  if (!is_still(parent_, temporary_.c_str(), fd_)) {
    remove_files_in(fd_, own_);  // by descriptor, wherever the folder is now
    temporary_.clear();
    return fail(Errc::io, "the temporary directory was removed or replaced; nothing was written", path_);
  }
  Status done = replace();
  if (done && ::fsync(parent_) != 0 && errno != EINVAL)
    done = system_failure(errno, "cannot flush the directory to disk", path_);
  discard();
  return done;
}

}  // namespace sptile::formats
