// Writing of HDF5 files: owned handles and converted errors.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/hdf5_helper/call.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"

namespace sptile::formats {

/// An HDF5 file under construction. Its bytes depend only on the calls: it has no timestamps, filters or fill
/// values, and every array is contiguous at a multiple of 4096 that is fixed at its creation. Every error is
/// Errc::io with the system's reason.
class Hdf5Output {
 public:
  /// Creates a container in the empty file open as `fd`, after `user_block` bytes that HDF5 ignores. The
  /// caller keeps ownership of the descriptor, which must outlive this object.
  static Result<Hdf5Output> create(int fd, std::uint64_t user_block);
  /// Opens the container in the file open as `fd` for additions; existing arrays keep their offsets.
  static Result<Hdf5Output> open(int fd);
  Hdf5Output(Hdf5Output&&) = default;
  Hdf5Output& operator=(Hdf5Output&&) = default;
  ~Hdf5Output();

  Status add_group(const std::string& path);
  /// Returns whether the root has a member of this name.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Removes a group and its contents, except objects with other links.
  Status remove(const std::string& path);
  /// Adds an attribute to a group or array; strings are UTF-8.
  Status add_attribute(const std::string& path, const std::string& name, const ParameterValue& value);
  /// Creates an array of `size` elements and returns the offset of its bytes; bf16 becomes u16 with the
  /// attribute dtype = "bf16".
  Result<std::uint64_t> add_array(const std::string& path, DType dtype, std::int64_t size);
  /// Adds another name for the array or group `path`.
  Status add_link(const std::string& path, const std::string& name);
  /// Returns the location of an array.
  [[nodiscard]] Result<Hdf5Place> place(const std::string& path) const;
  /// Flushes HDF5's buffers and closes the file.
  Status close();

 private:
  Hdf5Output() = default;
  /// Sets driver and properties; `start` creates or opens the file with them.
  template <class Start>
  static Result<Hdf5Output> begin(int fd, const Start& start);

  Hdf5Handle<H5FDunregister> driver_;
  Hdf5Handle<H5Fclose> file_;
};

}  // namespace sptile::formats
