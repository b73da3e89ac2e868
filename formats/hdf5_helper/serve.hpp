// The helper's side: answers what a process asks of HDF5 (formats/io/hdf5/hdf5_message.hpp).
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// What surrounds a server. This one sets no limits.
class Hdf5Surroundings {
 public:
  Hdf5Surroundings() = default;
  Hdf5Surroundings(const Hdf5Surroundings&) = delete;
  Hdf5Surroundings& operator=(const Hdf5Surroundings&) = delete;
  virtual ~Hdf5Surroundings() = default;

  /// Sees to memory that HDF5 will find, `bytes` beside what it always needs. Errc::io where there is none.
  virtual Status reserve(std::int64_t /*bytes*/) { return {}; }
  /// A question is worked on, which takes no longer unless the file is damaged.
  virtual void begin_work(double /*seconds*/) {}
  /// It is answered from now on.
  virtual void end_work() {}
};

/// Answers questions about the file open as `file` (-1: none) until the other side closes the socket, or
/// sends what is no question.
void serve_hdf5(int socket, int file, Hdf5Surroundings& surroundings);

}  // namespace sptile::formats
