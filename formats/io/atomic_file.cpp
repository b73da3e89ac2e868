#include "formats/io/atomic_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "formats/io/system_error.hpp"

namespace sptile::formats {
namespace {

constexpr std::string_view kMark = ".sptile-";
constexpr std::string_view kSuffix = ".tmp";

struct SplitPath {
  std::string folder;  // with its final slash; "" is the working folder
  std::string name;
};

SplitPath split(const std::string& path) {
  const std::size_t cut = path.rfind('/') + 1;  // npos + 1 == 0
  return {path.substr(0, cut), path.substr(cut)};
}

std::string folder_to_open(const SplitPath& path) { return path.folder.empty() ? "." : path.folder; }

// The process id in ".NAME.sptile-PID-SERIAL.tmp"; 0 for every other name.
pid_t owner_of(std::string_view file, const std::string& name) {
  const std::string prefix = "." + name + std::string(kMark);
  if (!file.starts_with(prefix) || !file.ends_with(kSuffix)) return 0;
  file.remove_prefix(prefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), pid);
  return error == std::errc() && *end == '-' && pid > 0 ? pid : 0;
}

void remove_stale_temporaries(const SplitPath& target) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_to_open(target).c_str()), ::closedir);
  if (!folder) return;  // a missing folder is reported when the temporary cannot be created
  while (const dirent* entry = ::readdir(folder.get())) {
    const pid_t owner = owner_of(entry->d_name, target.name);
    if (owner != 0 && ::kill(owner, 0) != 0 && errno == ESRCH)
      ::unlinkat(::dirfd(folder.get()), entry->d_name, 0);
  }
}

tl::unexpected<Error> exists(const std::string& path) {
  return fail(Errc::usage, "file exists; --force replaces it", path);
}

// Where the data will really go: links are followed, so that a link to a file stays a link.
Result<std::string> resolve_target(const std::string& path, bool force) {
  if (path.empty() || path.back() == '/') return fail(Errc::usage, "name a file, not a folder", path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path;
  if (!force) return exists(path);
  if (::stat(path.c_str(), &status) != 0) return system_failure(errno, "cannot follow the link", path);
  if (S_ISDIR(status.st_mode)) return fail(Errc::usage, "is a folder; name a file", path);
  if (!S_ISREG(status.st_mode))
    return fail(Errc::usage, "is no regular file, so it cannot be replaced", path);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) return system_failure(errno, "cannot resolve the path", path);
  return std::string(real.get());
}

int rename_without_replacing(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;  // else: the file system cannot do it
  if (::link(from, to) != 0) return -1;
  ::unlink(from);
  return 0;
}

Status sync_folder(const std::string& target) {
  const std::string folder = folder_to_open(split(target));
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_failure(errno, "cannot open the folder to make the new name durable", folder);
  const int failed = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: nothing to sync there
  ::close(fd);
  if (failed != 0) return system_failure(failed, "cannot make the new name durable", folder);
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, bool force) {
  static std::atomic<int> serial{0};
  Result<std::string> target = resolve_target(path, force);
  if (!target) return tl::unexpected(target.error());
  const SplitPath parts = split(*target);
  remove_stale_temporaries(parts);

  AtomicFile file;
  file.force_ = force;
  file.target_ = *std::move(target);
  file.temporary_ = parts.folder + "." + parts.name + std::string(kMark) + std::to_string(::getpid()) + "-" +
                    std::to_string(serial++) + std::string(kSuffix);
  file.slot_ = enlist_unfinished(file.temporary_);  // before it exists: a signal may come in between
  file.fd_ = ::open(file.temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd_ < 0) {
    auto failure = system_failure(errno, "cannot create a file beside it", path);
    file.temporary_.clear();
    return failure;
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  fd_ = std::exchange(other.fd_, -1);
  slot_ = std::exchange(other.slot_, kNoSlot);
  force_ = other.force_;
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  delist_unfinished(std::exchange(slot_, kNoSlot));
}

Status AtomicFile::commit(mode_t mode) {
  assert(fd_ >= 0);
  Status done = publish(mode);
  discard();
  return done;
}

Status AtomicFile::publish(mode_t mode) {
  // The file was created with 0666 less the umask; what the umask took away stays away.
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return system_failure(errno, "cannot examine the new file", target_);
  if (::fsync(fd_) != 0) return system_failure(errno, "cannot write to disk", target_);
  if (::fchmod(fd_, mode & (status.st_mode | 0700)) != 0)
    return system_failure(errno, "cannot set the permissions", target_);
  const char* from = temporary_.c_str();
  const char* to = target_.c_str();
  if ((force_ ? ::rename(from, to) : rename_without_replacing(from, to)) != 0)
    return errno == EEXIST ? Status(exists(target_)) : system_failure(errno, "cannot rename", target_);
  temporary_.clear();  // it has become the target
  return sync_folder(target_);
}

}  // namespace sptile::formats
