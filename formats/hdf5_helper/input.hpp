// Robust reading of HDF5 files of other programs, in the helper process.
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

/// A one-dimensional array of integers or real numbers.
struct StoredArray {
  Hdf5Handle<H5Dclose> id;
  std::string name;
  NumberType type;
  std::int64_t size = 0;   ///< elements; checked against the file's size
  std::int64_t chunk = 0;  ///< elements per chunk; 0: contiguous
};

/// A file open for reading. Errors are Errc::bad_input and Errc::unsupported with file and array.
class Hdf5Input {
 public:
  /// Opens the file open as `fd`, which the caller keeps and which must outlive this object.
  static Result<Hdf5Input> open(int fd, std::string name);
  Hdf5Input(Hdf5Input&&) = default;
  Hdf5Input& operator=(Hdf5Input&&) = delete;
  ~Hdf5Input();

  /// Returns the text of an attribute of the root, or of the group or array `object`; nothing if it is
  /// missing.
  Result<std::optional<std::string>> text(const std::string& attribute,
                                          const std::string& object = ".") const;
  /// Returns the integers of an attribute of `object`; nothing if it is missing. Errc::bad_input for other
  /// types and for more than 32 numbers.
  Result<std::optional<std::vector<std::int64_t>>> integers(const std::string& attribute,
                                                            const std::string& object) const;
  /// Returns whether the path exists, following only links inside the file.
  [[nodiscard]] bool has(const std::string& path) const;
  /// Returns the first names in the root.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Opens an array, also inside groups ("X/data"). Rejects arrays that can be larger than the file: data
  /// that were never written or are in other files, unknown filters, chunks with impossible sizes.
  Result<StoredArray> array(const std::string& name) const;
  /// Reads an entire array as i32, i64, u64, f32 or f64, and calls take(data, bytes) for each block until it
  /// returns false. Integers out of range are clamped.
  Status read(const StoredArray& array, DType dtype,
              const std::function<bool(const char*, std::size_t)>& take) const;
  /// Returns the uncompressed bytes per chunk.
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
