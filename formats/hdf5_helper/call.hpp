// Scope of a call to HDF5. Most builds of HDF5 are single-threaded, and so is the helper.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Owns an HDF5 identifier; a negative one results from a failed call.
template <herr_t (*Close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  [[nodiscard]] hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes the identifier now; returns false on failure.
  bool close() { return id_ < 0 || Close(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

/// Suppresses HDF5's error output during its lifetime.
class Hdf5Call {
 public:
  Hdf5Call();
  ~Hdf5Call();
  Hdf5Call(const Hdf5Call&) = delete;
  Hdf5Call& operator=(const Hdf5Call&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Reason of the last failure of HDF5: an errno if its error stack contains one, else the innermost message.
struct Hdf5Reason {
  int errnum = 0;
  std::string text;
};
Hdf5Reason hdf5_reason();

}  // namespace sptile::formats
