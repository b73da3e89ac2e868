// A process that calls HDF5 for this one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "formats/io/hdf5/hdf5_message.hpp"

namespace sptile::formats {

/// The other end of a program (formats/hdf5_helper) that has one file open and asks HDF5 what it is asked.
/// HDF5 may crash, loop or call exit on a damaged file and where memory is short; the helper then ends, and
/// each question fails. It ends with this object, with the thread that started it, and when it uses more
/// processor time than the file can need. An answer counts when it has arrived: how the process ended does
/// not matter, so programs may ignore SIGCHLD.
class Hdf5Helper {
 public:
  /// Starts a helper for the file open as `fd` (-1: none), which stays the caller's. Errc::io when there is
  /// no memory or no process for it. `damaged`: what it means when the helper ends by itself.
  static Result<Hdf5Helper> start(int fd, Errc damaged, const Progress* progress = nullptr);
  /// Asks whoever serves the socket (serve_hdf5 on another thread), which is closed with this object.
  static Hdf5Helper connected_to(int socket) { return Hdf5Helper(socket); }

  Hdf5Helper(Hdf5Helper&& other) noexcept;
  Hdf5Helper& operator=(Hdf5Helper&& other) noexcept;
  ~Hdf5Helper();

  /// Asks, and returns the fields of the answer. Errors are those of the helper; Errc::io "cancelled" soon
  /// after `progress` was cancelled.
  Result<FieldReader> ask(Hdf5Op op, const Fields& fields = {});
  /// Asks for data that fill `to`.
  Status ask_data(Hdf5Op op, const Fields& fields, std::span<std::byte> to);

  /// The version of HDF5 ("1.10.8"); empty before start().
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
