// HDF5 files of other programs, read with care.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/error.hpp"
#include "formats/io/hdf5_call.hpp"
#include "formats/io/numbers.hpp"

namespace sptile::formats {

/// An array of one dimension, of integers or real numbers.
struct Hdf5Array {
  Hdf5Handle<H5Dclose> id;
  std::string name;
  NumberType type;
  std::int64_t size = 0;   ///< elements; the file has the bytes for them
  bool in_chunks = false;  ///< stored in pieces, perhaps compressed
};

/// A file open for reading. Errors are Errc::bad_input and Errc::unsupported with file and array.
class Hdf5Reader {
 public:
  /// Opens the file open as `fd`, which stays the caller's and must outlive this.
  static Result<Hdf5Reader> open(int fd, std::string name);
  Hdf5Reader(Hdf5Reader&&) = default;
  Hdf5Reader& operator=(Hdf5Reader&&) = delete;
  ~Hdf5Reader();

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
  Result<Hdf5Array> array(const std::string& name) const;
  /// Reads all of an array as i32: what does not fit becomes the nearest number that does.
  Status read(const Hdf5Array& array, std::int32_t* to) const;
  Status read(const Hdf5Array& array, std::int64_t* to) const;
  Status read(const Hdf5Array& array, std::uint64_t* to) const;
  Status read(const Hdf5Array& array, float* to) const;
  Status read(const Hdf5Array& array, double* to) const;

  [[nodiscard]] std::string where(const std::string& array) const { return name_ + ":" + array; }

 private:
  Hdf5Reader() = default;
  Status check_storage(const Hdf5Array& array) const;
  Status check_links(const std::string& path) const;
  Status read_as(const Hdf5Array& array, hid_t type, void* to) const;

  std::string name_;
  std::int64_t file_bytes_ = 0;
  Hdf5Handle<H5FDunregister> driver_;
  Hdf5Handle<H5Fclose> file_;
};

}  // namespace sptile::formats
