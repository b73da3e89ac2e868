#include "formats/io/hdf5/hdf5_helper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "formats/core/file_descriptor.hpp"
#include "formats/io/files/system_error.hpp"
#include "formats/io/hdf5/hdf5_version.hpp"
#include "formats/io/hdf5/helper_path.hpp"

namespace sptile::formats {
namespace {

constexpr int kSliceMilliseconds = 50;
constexpr int kMaxSlices = 10 * 60 * 1000 / kSliceMilliseconds;  // timeout without a byte

/// Returns a copy that is numbered above the descriptors passed to the helper.
FileDescriptor copy_of(int fd) {
  constexpr int kAboveHelpers = 10;
  return FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveHelpers));
}

/// Descriptors of the helper: 0 is the socket, 1 and 2 are /dev/null, 3 is the file.
class Actions {
 public:
  Actions(int socket, int file) {
    constexpr int kFile = 3;
    error_ = ::posix_spawn_file_actions_init(&actions_);
    if (error_ == 0) error_ = ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      if (error_ == 0) error_ = ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_WRONLY, 0);
    if (error_ == 0 && file >= 0) error_ = ::posix_spawn_file_actions_adddup2(&actions_, file, kFile);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
  int error_ = 0;
};

/// Default signal actions and a separate process group: Ctrl-C is meant for this process, which then ends the
/// helper.
class Attributes {
 public:
  Attributes() {
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

tl::unexpected<Error> no_process(int errnum) {
  return system_failure(errnum, "cannot start the process that calls HDF5", {});
}

Result<pid_t> spawn(const std::string& program, int socket, int file) {
  const Actions actions(socket, file);
  if (actions.error() != 0) return no_process(actions.error());
  const Attributes attributes;
  std::string name = "sptile-hdf5";
  char* const arguments[] = {name.data(), nullptr};
  pid_t child = -1;
  const int failed =
      ::posix_spawn(&child, program.c_str(), actions.get(), attributes.get(), arguments, environ);
  if (failed != 0) return no_process(failed);
  return child;
}

}  // namespace

Result<Hdf5Helper> Hdf5Helper::start(int fd, Errc damaged, const Progress* progress) {
  const auto program = helper_path();
  if (!program) return tl::unexpected(program.error());
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return no_process(errno);
  FileDescriptor own(pair[0]);
  const FileDescriptor given(pair[1]), theirs = copy_of(given.get());
  const FileDescriptor file = fd < 0 ? FileDescriptor(-1) : copy_of(fd);
  if (theirs.get() < 0 || (fd >= 0 && file.get() < 0)) return no_process(errno);
  const auto child = spawn(*program, theirs.get(), file.get());
  if (!child) return tl::unexpected(child.error());
  Hdf5Helper helper(own.release());
  helper.child_ = *child;
  helper.progress_ = progress;
  if (Status s = helper.greet(); !s) return tl::unexpected(std::move(s.error()));
  helper.damaged_ = damaged;
  return helper;
}

Hdf5Helper::Hdf5Helper(Hdf5Helper&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      child_(std::exchange(other.child_, -1)),
      damaged_(other.damaged_),
      progress_(other.progress_),
      version_(std::move(other.version_)) {}

Hdf5Helper& Hdf5Helper::operator=(Hdf5Helper&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(child_, other.child_);
  std::swap(damaged_, other.damaged_);
  std::swap(progress_, other.progress_);
  version_.swap(other.version_);
  return *this;
}

// Shutting down the socket ends the helper even if forked processes hold copies of the socket, and if the
// process id was reused. Killing is faster and also ends a stopped helper.
Hdf5Helper::~Hdf5Helper() {
  if (socket_ >= 0) {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }
  if (child_ < 0) return;
  if (!is_gone()) ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
}

// Errors are Errc::io until the helper has answered: none of them is about the file yet.
Status Hdf5Helper::greet() {
  damaged_ = Errc::io;
  auto hello = ask(Hdf5Op::hello);
  if (!hello) return tl::unexpected(std::move(hello.error()));
  if (hello->number() != kHdf5Protocol)
    return fail(Errc::io, "sptile-hdf5 belongs to a different version of sptile; reinstall sptile");
  version_ = hello->text();
  return {};
}

tl::unexpected<Error> Hdf5Helper::ended() const {
  if (cancelled(progress_)) return fail(Errc::io, "cancelled");
  if (damaged_ == Errc::bad_input)
    return fail(Errc::bad_input, "HDF5 crashes on this file: it is damaged; copy it again");
  return fail(Errc::io, "the HDF5 process ended unexpectedly; memory may be low");
}

// Usually the end of the socket shows this. A process forked while the helper was started may hold a copy of
// the helper's end, though.
bool Hdf5Helper::is_gone() const {
  if (child_ < 0) return false;
  siginfo_t ended{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
  return asked == 0 ? ended.si_pid == child_ : errno == ECHILD;
}

// Counts time slices instead of reading a clock, so that time during which both processes are stopped does
// not count.
Status Hdf5Helper::wait() {
  pollfd waited{socket_, POLLIN, 0};
  for (int slice = 0; slice < kMaxSlices; ++slice) {
    if (cancelled(progress_)) return fail(Errc::io, "cancelled");
    const int ready = ::poll(&waited, 1, kSliceMilliseconds);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_failure(errno, "cannot read from sptile-hdf5", {});
    if (ready == 0 && is_gone() && ::poll(&waited, 1, 0) == 0) return ended();
  }
  return fail(Errc::io, "the HDF5 process has not responded for 10 minutes");
}

Status Hdf5Helper::receive(std::span<std::byte> to) {
  while (!to.empty()) {
    if (Status s = wait(); !s) return s;
    const ssize_t count = ::recv(socket_, to.data(), to.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return ended();
    to = to.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<Hdf5Head> Hdf5Helper::receive_head() {
  Hdf5Head head;
  if (Status s = receive(std::as_writable_bytes(std::span(&head, 1))); !s) return tl::unexpected(s.error());
  if (head.bytes > kMaxHdf5Bytes) return ended();
  return head;
}

Result<FieldReader> Hdf5Helper::receive_fields(Hdf5Head head) {
  std::string bytes(head.bytes, '\0');
  if (Status s = receive(std::as_writable_bytes(std::span(bytes))); !s) return tl::unexpected(s.error());
  FieldReader fields(std::move(bytes));
  if (head.kind == static_cast<std::uint32_t>(Hdf5Answer::done)) return fields;
  if (head.kind != static_cast<std::uint32_t>(Hdf5Answer::failed)) return ended();
  Error error = error_of(fields);
  if (!fields.intact()) return ended();
  return tl::unexpected(std::move(error));
}

Result<FieldReader> Hdf5Helper::ask(Hdf5Op op, const Fields& fields) {
  if (!send_message(socket_, static_cast<std::uint32_t>(op), fields.bytes())) return ended();
  const auto head = receive_head();
  if (!head) return tl::unexpected(head.error());
  return receive_fields(*head);
}

Status Hdf5Helper::ask_data(Hdf5Op op, const Fields& fields, std::span<std::byte> to) {
  if (!send_message(socket_, static_cast<std::uint32_t>(op), fields.bytes())) return ended();
  for (;;) {
    const auto head = receive_head();
    if (!head) return tl::unexpected(head.error());
    if (head->kind != static_cast<std::uint32_t>(Hdf5Answer::data)) {
      const auto last = receive_fields(*head);
      if (!last) return tl::unexpected(last.error());
      return to.empty() ? Status() : ended();
    }
    if (head->bytes > to.size()) return ended();
    if (Status s = receive(to.first(head->bytes)); !s) return s;
    to = to.subspan(head->bytes);
  }
}

std::string hdf5_version() {
  const auto helper = Hdf5Helper::start(-1, Errc::io);
  return helper ? helper->version() : "none: " + helper.error().text();
}

}  // namespace sptile::formats
