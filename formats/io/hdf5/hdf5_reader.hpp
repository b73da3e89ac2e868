// HDF5 files of other programs, read with care, by a helper.
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

/// An array of one dimension, of integers or real numbers.
struct Hdf5Array {
  std::string name;
  NumberType type;
  std::int64_t size = 0;    ///< elements; the file has the bytes for them
  std::int64_t handle = 0;  ///< the helper's
};

/// A file open for reading. Errors are Errc::bad_input and Errc::unsupported with file and array, Errc::io
/// where memory is short or the reading was cancelled.
class Hdf5Reader {
 public:
  /// Has a helper read the file open as `fd`, which stays the caller's.
  static Result<Hdf5Reader> open(int fd, std::string name, const Progress* progress = nullptr);
  /// The same with a helper that was started for a file of so many bytes.
  static Result<Hdf5Reader> open(Hdf5Helper helper, std::string name, std::int64_t file_bytes);

  /// The text of an attribute of the root or of the group or array `object`; nothing where there is none.
  Result<std::optional<std::string>> text(const std::string& attribute,
                                          const std::string& object = ".") const;
  /// The numbers of an attribute of `object`, integers; nothing where there is none. Errc::bad_input for
  /// others, and for more than 32.
  Result<std::optional<std::vector<std::int64_t>>> integers(const std::string& attribute,
                                                            const std::string& object) const;
  /// True where the path is there, by links inside the file alone.
  Result<bool> has(const std::string& path) const;
  /// Names in the root, the first few.
  Result<std::vector<std::string>> names() const;

  /// Opens an array; its path may lead through groups ("X/data"). Refuses what can be larger than the file:
  /// data that were never written or stand in other files, filters that sptile does not know, chunks that
  /// claim more than they can hold. Errc::io where memory cannot hold it with 8 bytes an element.
  Result<Hdf5Array> array(const std::string& name) const;
  /// Reads all of an array as i32: what does not fit becomes the nearest number that does.
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
