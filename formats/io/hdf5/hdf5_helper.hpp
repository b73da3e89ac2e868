// A helper process that calls HDF5 for this one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "formats/io/hdf5/hdf5_message.hpp"

namespace sptile::formats {

/// Connection to a program (formats/hdf5_helper) that has one file open and performs HDF5 requests. HDF5 may
/// crash, loop or call exit on a damaged file or if memory is short; the helper then ends and every request
/// fails. The helper also ends with this object, with the thread that started it, and when it uses more
/// processor time than the file can need. Answers that have arrived are valid whatever the exit status, so
/// programs may ignore SIGCHLD.
class Hdf5Helper {
 public:
  /// Starts a helper for the file open as `fd` (-1: none), which the caller keeps. `damaged` is the error
  /// code if the helper ends unexpectedly. Errc::io if there is no memory or process for it.
  static Result<Hdf5Helper> start(int fd, Errc damaged, const Progress* progress = nullptr);
  /// Connects to serve_hdf5 in another thread. Takes ownership of the socket.
  static Hdf5Helper connected_to(int socket) { return Hdf5Helper(socket); }

  Hdf5Helper(Hdf5Helper&& other) noexcept;
  Hdf5Helper& operator=(Hdf5Helper&& other) noexcept;
  ~Hdf5Helper();

  /// Sends a request and returns the fields of the answer. Errors are those of the helper; Errc::io
  /// "cancelled" soon after `progress` is cancelled.
  Result<FieldReader> ask(Hdf5Op op, const Fields& fields = {});
  /// Requests data that fill `to`.
  Status ask_data(Hdf5Op op, const Fields& fields, std::span<std::byte> to);

  /// Returns the version of HDF5 ("1.10.8"); empty before start().
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  explicit Hdf5Helper(int socket) : socket_(socket) {}
  Status greet();
  Status receive(std::span<std::byte> to);
  Status wait();
  [[nodiscard]] bool is_gone() const;
  Result<Hdf5Head> receive_head();
  Result<FieldReader> receive_fields(Hdf5Head head);
  [[nodiscard]] tl::unexpected<Error> ended() const;

  int socket_ = -1;
  pid_t child_ = -1;
  Errc damaged_ = Errc::bad_input;
  const Progress* progress_ = nullptr;
  std::string version_;
};

}  // namespace sptile::formats
