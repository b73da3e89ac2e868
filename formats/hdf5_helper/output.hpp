// Files that HDF5 writes: its handles owned, its errors turned into ours.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/hdf5_helper/call.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"

namespace sptile::formats {

/// An HDF5 file under construction. Its bytes depend only on what is put into it: no times; nothing filtered
/// or filled; every array in one piece at a multiple of 4096, with its place fixed when it is created. Every
/// error is Errc::io with the reason that the system gave.
class Hdf5Output {
 public:
  /// Builds a container in the empty file open as `fd`, behind `user_block` bytes that HDF5 leaves alone. The
  /// descriptor stays the caller's and must outlive this.
  static Result<Hdf5Output> create(int fd, std::uint64_t user_block);
  /// Goes on with the container in the file open as `fd`: what is there stays where it is.
  static Result<Hdf5Output> open(int fd);
  Hdf5Output(Hdf5Output&&) = default;
  Hdf5Output& operator=(Hdf5Output&&) = default;
  ~Hdf5Output();

  Status add_group(const std::string& path);
  /// True when the root has something of that name.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Takes a group away with all that is in it, unless it has other names.
  Status remove(const std::string& path);
  /// Adds an attribute to a group or array; strings are UTF-8.
  Status add_attribute(const std::string& path, const std::string& name, const ParameterValue& value);
  /// Creates an array of `size` elements and tells where its bytes go; bf16 becomes u16 with the attribute
  /// dtype = "bf16".
  Result<std::uint64_t> add_array(const std::string& path, DType dtype, std::int64_t size);
  /// Gives the array or group `path` another name.
  Status add_link(const std::string& path, const std::string& name);
  /// Tells where an array lies.
  [[nodiscard]] Result<Hdf5Place> place(const std::string& path) const;
  /// Writes what HDF5 still holds back and lets go of the file.
  Status close();

 private:
  Hdf5Output() = default;
  /// Sets driver and properties; `start` makes the file of them.
  template <class Start>
  static Result<Hdf5Output> begin(int fd, const Start& start);

  Hdf5Handle<H5FDunregister> driver_;
  Hdf5Handle<H5Fclose> file_;
};

}  // namespace sptile::formats
