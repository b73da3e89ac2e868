// HDF5 files of other programs, read with care: what the helper asks HDF5.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"
#include "formats/hdf5_helper/call.hpp"
#include "formats/io/text/numbers.hpp"

namespace sptile::formats {

/// An array of one dimension, of integers or real numbers.
struct StoredArray {
  Hdf5Handle<H5Dclose> id;
  std::string name;
  NumberType type;
  std::int64_t size = 0;   ///< elements; the file has the bytes for them
  std::int64_t chunk = 0;  ///< elements of the pieces in which it is stored; 0: it is in one piece
};

/// A file open for reading. Errors are Errc::bad_input and Errc::unsupported with file and array.
class Hdf5Input {
 public:
  /// Opens the file open as `fd`, which stays the caller's and must outlive this.
  static Result<Hdf5Input> open(int fd, std::string name);
  Hdf5Input(Hdf5Input&&) = default;
  Hdf5Input& operator=(Hdf5Input&&) = delete;
  ~Hdf5Input();

  /// The text of an attribute of the root or of the group or array `object`; nothing where there is none.
  Result<std::optional<std::string>> text(const std::string& attribute,
                                          const std::string& object = ".") const;
  /// The numbers of an attribute of `object`, integers; nothing where there is none. Errc::bad_input for
  /// others, and for more than 32.
  Result<std::optional<std::vector<std::int64_t>>> integers(const std::string& attribute,
                                                            const std::string& object) const;
  /// True where the path is there, by links inside the file alone.
  [[nodiscard]] bool has(const std::string& path) const;
  /// Names in the root, the first few.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Opens an array; its path may lead through groups ("X/data"). Refuses what can be larger than the file:
  /// data that were never written or stand in other files, filters that sptile does not know, chunks that
  /// claim more than they can hold.
  Result<StoredArray> array(const std::string& name) const;
  /// Reads all of an array as i32, i64, u64, f32 or f64, and calls take(data, bytes) with one piece after
  /// the other until it returns false. Integers that do not fit become the nearest numbers that do.
  Status read(const StoredArray& array, DType dtype,
              const std::function<bool(const char*, std::size_t)>& take) const;
  /// Bytes of what HDF5 unpacks at a time.
  [[nodiscard]] static std::int64_t chunk_bytes(const StoredArray& array) {
    return array.chunk * array.type.bytes;
  }
  [[nodiscard]] std::int64_t file_bytes() const { return file_bytes_; }

  [[nodiscard]] std::string where(const std::string& array) const { return name_ + ":" + array; }

 private:
  Hdf5Input() = default;
  Status check_storage(const StoredArray& array) const;
  Status check_links(const std::string& path) const;

  std::string name_;
  std::int64_t file_bytes_ = 0;
  Hdf5Handle<H5FDunregister> driver_;
  Hdf5Handle<H5Fclose> file_;
};

}  // namespace sptile::formats
