// Reader of HDF5 files of other programs, through a helper process that isolates crashes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/io/hdf5/hdf5_helper.hpp"
#include "formats/io/text/numbers.hpp"

namespace sptile::formats {

/// A one-dimensional array of integers or real numbers.
struct Hdf5Array {
  std::string name;
  NumberType type;
  std::int64_t size = 0;    ///< elements; checked against the file's size
  std::int64_t handle = 0;  ///< handle in the helper
};

/// A file open for reading. Errc::bad_input and Errc::unsupported with file and array; Errc::io if memory is
/// short or reading was cancelled.
class Hdf5Reader {
 public:
  /// Starts a helper for the file open as `fd`, which the caller keeps.
  static Result<Hdf5Reader> open(int fd, std::string name, const Progress* progress = nullptr);
  /// Uses a helper that was started for a file of `file_bytes` bytes.
  static Result<Hdf5Reader> open(Hdf5Helper helper, std::string name, std::int64_t file_bytes);

  /// Returns the text of an attribute of the root, or of the group or array `object`; nothing if it is
  /// missing.
  Result<std::optional<std::string>> text(const std::string& attribute,
                                          const std::string& object = ".") const;
  /// Returns the integers of an attribute of `object`; nothing if it is missing. Errc::bad_input for other
  /// types and for more than 32 numbers.
  Result<std::optional<std::vector<std::int64_t>>> integers(const std::string& attribute,
                                                            const std::string& object) const;
  /// Returns whether the path exists, following only links inside the file.
  Result<bool> has(const std::string& path) const;
  /// Returns the first names in the root.
  Result<std::vector<std::string>> names() const;

  /// Opens an array, also inside groups ("X/data"). Rejects arrays that can be larger than the file: data
  /// that were never written or are in other files, unknown filters, chunks with impossible sizes. Errc::io
  /// if 8 bytes per element do not fit in memory.
  Result<Hdf5Array> array(const std::string& name) const;
  /// Reads a complete array. Values out of range are clamped.
  Status read(const Hdf5Array& array, std::int32_t* to) const;
  Status read(const Hdf5Array& array, std::int64_t* to) const;
  Status read(const Hdf5Array& array, std::uint64_t* to) const;
  Status read(const Hdf5Array& array, float* to) const;
  Status read(const Hdf5Array& array, double* to) const;

  [[nodiscard]] std::string where(const std::string& array) const { return name_ + ":" + array; }

 private:
  Hdf5Reader(Hdf5Helper helper, std::string name, std::int64_t file_bytes)
      : name_(std::move(name)),
        file_bytes_(file_bytes),
        helper_(std::make_unique<Hdf5Helper>(std::move(helper))) {}
  Result<FieldReader> ask(Hdf5Op op, const Fields& fields = {}) const;
  template <class T>
  Status read_as(const Hdf5Array& array, T* to) const;
  [[nodiscard]] tl::unexpected<Error> garbled() const;

  std::string name_;
  std::int64_t file_bytes_;
  std::unique_ptr<Hdf5Helper> helper_;
};

}  // namespace sptile::formats
