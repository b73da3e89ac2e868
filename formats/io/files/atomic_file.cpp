#include "formats/io/files/atomic_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "formats/io/files/file_writes.hpp"
#include "formats/io/files/system_error.hpp"
#include "formats/io/files/temporary_name.hpp"

namespace sptile::formats {
namespace {

constexpr int kTries = 100;

// Uses a lock of the open file description, not of the process: it is released with the last descriptor, is
// visible in every container, and does not conflict with HDF5 programs, which use flock.
bool lock(int fd, short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

void remove_if_stale(int folder, const char* name) {
  const int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  if (lock(fd, F_RDLCK) && is_still(folder, name, fd)) ::unlinkat(folder, name, 0);
  ::close(fd);
}

void remove_stale_temporaries(int folder, const std::string& target) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closed by closedir
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get()))
    if (is_temporary_of(target, entry->d_name)) remove_if_stale(folder, entry->d_name);
}

tl::unexpected<Error> exists(const std::string& path) {
  return fail(Errc::usage, "file exists; --force replaces it", path);
}

tl::unexpected<Error> another(const std::string& path) {
  return fail(Errc::io, "was replaced while it was open; nothing was written; try again", path);
}

tl::unexpected<Error> cannot_create(int errnum, const std::string& path) {
  return system_failure(errnum, "cannot create a temporary file next to it", path);
}

// Resolves symbolic links, so that a link to a file stays a link when the file is replaced.
Result<std::string> resolve_target(const std::string& path, bool force) {
  if (path.empty() || path.back() == '/')
    return fail(Errc::usage, "expected a file name, not a directory", path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return cannot_create(errno, path);
    return path;
  }
  if (!force) return exists(path);
  if (::stat(path.c_str(), &status) != 0) return system_failure(errno, "cannot follow the link", path);
  if (S_ISDIR(status.st_mode)) return fail(Errc::usage, "is a directory; expected a file", path);
  if (!S_ISREG(status.st_mode))
    return fail(Errc::usage, "is not a regular file and cannot be replaced", path);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) return system_failure(errno, "cannot resolve the path", path);
  return std::string(real.get());
}

int rename_without_replacing(int folder, const char* from, const char* to) {
  if (::renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;  // else: not supported by the file system
  if (::linkat(folder, from, folder, to, 0) != 0) return -1;
  ::unlinkat(folder, from, 0);
  return 0;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, Placing placing) {
  const Result<std::string> target = resolve_target(path, placing.force);
  if (!target) return tl::unexpected(target.error());
  SplitPath parts = split_path(*target);
  const int folder =
      ::open(parts.folder.empty() ? "." : parts.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return begin(folder, std::move(parts.name), path, placing);
}

Result<AtomicFile> AtomicFile::create_in(int folder, const std::string& name, const std::string& path) {
  return begin(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), name, path, false);
}

Result<AtomicFile> AtomicFile::replace(int fd, const std::string& path) {
  auto file = create(path, true);
  if (!file) return file;
  file->replaced_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (file->replaced_ < 0) return system_failure(errno, "cannot use the descriptor", path);
  if (!is_still(file->folder_, file->target_.c_str(), fd)) return another(path);
  return file;
}

// `folder` is an open descriptor, or a negative value if opening failed (errno is set).
Result<AtomicFile> AtomicFile::begin(int folder, std::string name, const std::string& path, Placing placing) {
  if (folder < 0) return cannot_create(errno, path);
  AtomicFile file;
  file.force_ = placing.force;
  file.group_ = placing.group;
  file.path_ = path;
  file.folder_ = folder;
  file.target_ = std::move(name);
  remove_stale_temporaries(file.folder_, file.target_);
  for (int tried = 0; tried < kTries; ++tried) {
    if (file.open_temporary()) return file;
    if (errno != EEXIST) return cannot_create(errno, path);
  }
  return cannot_create(EEXIST, path);
}

Result<AtomicFile> AtomicFile::borrow(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_failure(errno, "cannot use the descriptor", name);
  const int flags = ::fcntl(fd, F_GETFL);
  if (!S_ISREG(status.st_mode) || status.st_size != 0 || flags < 0 || (flags & O_ACCMODE) != O_RDWR)
    return fail(Errc::usage, "is not an empty file open for reading and writing", name);
  AtomicFile file;
  file.borrowed_ = true;
  file.path_ = name;
  file.fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (file.fd_ < 0) return system_failure(errno, "cannot use the descriptor", name);
  return file;
}

// Creates and locks a temporary file; errno EEXIST requests a retry. Before it is locked, another writer may
// take it for stale: that writer then holds the lock or has removed the file. Without lock support no writer
// removes it.
bool AtomicFile::open_temporary() {
  temporary_ = random_temporary(target_);
  slot_ = enlist_unfinished(folder_, temporary_);  // before creation, because a signal may arrive in between
  fd_ = ::openat(folder_, temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool lost = fd_ >= 0 && ((!lock(fd_, F_WRLCK) && (errno == EAGAIN || errno == EACCES)) ||
                                 !is_still(folder_, temporary_.c_str(), fd_));
  if (fd_ >= 0 && !lost) return true;
  const int errnum = lost ? EEXIST : errno;
  if (fd_ < 0) temporary_.clear();  // not ours to remove
  drop_temporary();
  errno = errnum;
  return false;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  folder_ = std::exchange(other.folder_, -1);
  fd_ = std::exchange(other.fd_, -1);
  replaced_ = std::exchange(other.replaced_, -1);
  slot_ = std::exchange(other.slot_, kNoSlot);
  group_ = other.group_;
  force_ = other.force_;
  borrowed_ = other.borrowed_;
  lost_old_ = other.lost_old_;
  path_ = std::exchange(other.path_, {});
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::drop_temporary() noexcept {
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  temporary_.clear();
  delist_unfinished(std::exchange(slot_, kNoSlot));
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));  // last, because it releases the lock
}

void AtomicFile::discard() noexcept {
  drop_temporary();
  if (replaced_ >= 0) ::close(std::exchange(replaced_, -1));
  if (folder_ >= 0) ::close(std::exchange(folder_, -1));
}

Status AtomicFile::write(std::string_view bytes) {
  const int failed = write_all(fd_, bytes.data(), bytes.size());
  if (failed != 0) return system_failure(failed, "cannot write", path_);
  return {};
}

Status AtomicFile::commit(mode_t mode) {
  assert(fd_ >= 0);
  Status done = borrowed_ ? Status() : prepare(mode);
  if (done && group_ != nullptr) {
    group_->files_.push_back(std::move(*this));
    return {};
  }
  if (done && !borrowed_) done = place(false);
  if (done && !borrowed_) done = settle();
  discard();
  return done;
}

Status AtomicFile::prepare(mode_t mode) {
  // The mode at creation was 0666 & ~umask; bits cleared by the umask stay cleared.
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return system_failure(errno, "cannot examine the new file", path_);
  if (::fsync(fd_) != 0) return system_failure(errno, "cannot write to disk", path_);
  if (::fchmod(fd_, mode & (status.st_mode | 0700)) != 0)
    return system_failure(errno, "cannot set the permissions", path_);
  return {};
}

// Renames the temporary to the target. With `keep_old` the replaced file keeps the temporary name, so that
// the change can be undone.
Status AtomicFile::place(bool keep_old) {
  const char* const from = temporary_.c_str();
  const char* const to = target_.c_str();
  if (!is_still(folder_, from, fd_)) {
    temporary_.clear();  // a file with that name is not ours
    return fail(Errc::io, "the temporary file was removed or replaced; nothing was written", path_);
  }
  if (replaced_ >= 0 && !is_still(folder_, to, replaced_)) return another(path_);
  struct stat old {};
  const bool replaces = force_ && ::fstatat(folder_, to, &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (keep_old && replaces && S_ISREG(old.st_mode) && place_and_keep()) return {};
  if ((force_ ? ::renameat(folder_, from, folder_, to) : rename_without_replacing(folder_, from, to)) != 0)
    return errno == EEXIST ? Status(exists(path_)) : system_failure(errno, "cannot rename", path_);
  temporary_.clear();  // renamed to the target
  lost_old_ = replaces;
  return {};
}

// Exchanges the names or, if the file system does not support this, links the old file again.
bool AtomicFile::place_and_keep() {
  const char* const from = temporary_.c_str();
  const char* const to = target_.c_str();
  if (::renameat2(folder_, from, folder_, to, RENAME_EXCHANGE) == 0) return true;
  std::string old = random_temporary(target_);
  if (::linkat(folder_, to, folder_, old.c_str(), 0) != 0) return false;
  if (::renameat(folder_, from, folder_, to) != 0) {
    ::unlinkat(folder_, old.c_str(), 0);
    return false;
  }
  temporary_ = std::move(old);
  return true;
}

// Errors are ignored: a file that is gone cannot be restored.
void AtomicFile::roll_back() noexcept {
  const char* const to = target_.c_str();
  if (lost_old_ || !is_still(folder_, to, fd_)) return;
  if (temporary_.empty())
    ::unlinkat(folder_, to, 0);
  else if (::renameat(folder_, temporary_.c_str(), folder_, to) == 0)
    temporary_.clear();
}

Status AtomicFile::settle() {
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  temporary_.clear();
  if (::fsync(folder_) != 0 && errno != EINVAL)  // EINVAL: folders cannot be synced here
    return system_failure(errno, "cannot flush the directory to disk", path_);
  return {};
}

}  // namespace sptile::formats
