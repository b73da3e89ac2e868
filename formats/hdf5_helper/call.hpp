// What holds while one of our functions calls HDF5. Most builds of HDF5 are for one thread: the helper has
// one.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Owns one HDF5 identifier; a negative one is a failed call.
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
  /// Closes now; false when HDF5 could not.
  bool close() { return id_ < 0 || Close(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

/// While it lives, HDF5 prints no errors.
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

/// Why the last call of HDF5 failed: an errno where a message of its stack has one, else the innermost one.
struct Hdf5Reason {
  int errnum = 0;
  std::string text;
};
Hdf5Reason hdf5_reason();

}  // namespace sptile::formats
