// Server side of the helper: answers requests for HDF5 (formats/io/hdf5/hdf5_message.hpp).
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Resource limits of a server. The base class sets none.
class Hdf5Surroundings {
 public:
  Hdf5Surroundings() = default;
  Hdf5Surroundings(const Hdf5Surroundings&) = delete;
  Hdf5Surroundings& operator=(const Hdf5Surroundings&) = delete;
  virtual ~Hdf5Surroundings() = default;

  /// Reserves `bytes` bytes for HDF5 in addition to its usual needs. Errc::io if memory is short.
  virtual Status reserve(std::int64_t /*bytes*/) { return {}; }
  /// Called before work that takes at most this time unless the file is damaged.
  virtual void begin_work(double /*seconds*/) {}
  /// Called after the work.
  virtual void end_work() {}
};

/// Answers requests for the file open as `file` (-1: none) until the peer closes the socket or sends an
/// invalid request.
void serve_hdf5(int socket, int file, Hdf5Surroundings& surroundings);

}  // namespace sptile::formats
