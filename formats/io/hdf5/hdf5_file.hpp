// The HDF5 operations needed to write bundles, performed by a helper process.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/io/hdf5/hdf5_helper.hpp"

namespace sptile::formats {

/// Location of an array in the file.
struct Hdf5Place {
  std::uint64_t offset = 0;  ///< absolute byte offset; 0 for an empty array
  std::uint64_t bytes = 0;
};

/// An HDF5 file under construction. Its bytes depend only on the calls: it has no timestamps, filters or fill
/// values, and every array is contiguous at a multiple of 4096 that is fixed at its creation. Every error is
/// Errc::io with the system's reason.
class Hdf5File {
 public:
  /// Creates a container in the empty file open as `fd`, after `user_block` bytes that HDF5 ignores. The
  /// caller keeps ownership of the descriptor, which must outlive this object.
  static Result<Hdf5File> create(int fd, std::uint64_t user_block, const Progress* progress = nullptr);
  static Result<Hdf5File> create(Hdf5Helper helper, int fd, std::uint64_t user_block);
  /// Opens the container in the file open as `fd` for additions; existing arrays keep their offsets.
  /// Errc::bad_input for a container that makes HDF5 crash.
  static Result<Hdf5File> open(int fd, const Progress* progress = nullptr);

  Status add_group(const std::string& path);
  /// Returns whether the root has a member of this name.
  Result<bool> has(const std::string& name);
  /// Removes a group and its contents, except objects with other links.
  Status remove(const std::string& path);
  /// Adds an attribute to a group or array; strings are UTF-8.
  Status add_attribute(const std::string& path, const std::string& name, const ParameterValue& value);
  /// Creates an array of `size` elements; bf16 becomes u16 with the attribute dtype = "bf16".
  Status add_array(const std::string& path, DType dtype, std::int64_t size);
  /// Adds another name for the array or group `path`.
  Status add_link(const std::string& path, const std::string& name);
  /// Writes elements [first, first + piece.size) of the last added array.
  Status write(std::int64_t first, const ArrayView& piece);
  /// Returns the offset of the last added array.
  [[nodiscard]] std::uint64_t array_offset() const { return array_offset_; }
  /// Returns the location of an array.
  Result<Hdf5Place> place(const std::string& path);
  /// Flushes HDF5's buffers and closes the file.
  Status close();

 private:
  Hdf5File(Hdf5Helper helper, int fd) : helper_(std::move(helper)), fd_(fd) {}
  static Result<Hdf5File> begin(Hdf5Helper helper, int fd, Hdf5Op op, const Fields& fields);
  Status send(Hdf5Op op, const Fields& fields = {});

  Hdf5Helper helper_;
  int fd_ = -1;
  std::uint64_t array_offset_ = 0;  ///< offset of the last added array
};

}  // namespace sptile::formats
