// The few things that a bundle needs of HDF5, which a helper calls.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/io/hdf5/hdf5_helper.hpp"

namespace sptile::formats {

/// Where an array came to lie.
struct Hdf5Place {
  std::uint64_t offset = 0;  ///< absolute in the file; 0 for an empty array
  std::uint64_t bytes = 0;
};

/// An HDF5 file under construction. Its bytes depend only on what is put into it: no times; nothing filtered
/// or filled; every array in one piece at a multiple of 4096, with its place fixed when it is created. Every
/// error is Errc::io with the reason that the system gave.
class Hdf5File {
 public:
  /// Builds a container in the empty file open as `fd`, behind `user_block` bytes that HDF5 leaves alone. The
  /// descriptor stays the caller's and must outlive this.
  static Result<Hdf5File> create(int fd, std::uint64_t user_block, const Progress* progress = nullptr);
  static Result<Hdf5File> create(Hdf5Helper helper, int fd, std::uint64_t user_block);
  /// Goes on with the container in the file open as `fd`: what is there stays where it is. Errc::bad_input
  /// for a container that HDF5 crashes on.
  static Result<Hdf5File> open(int fd, const Progress* progress = nullptr);

  Status add_group(const std::string& path);
  /// True when the root has something of that name.
  Result<bool> has(const std::string& name);
  /// Takes a group away with all that is in it, unless it has other names.
  Status remove(const std::string& path);
  /// Adds an attribute to a group or array; strings are UTF-8.
  Status add_attribute(const std::string& path, const std::string& name, const ParameterValue& value);
  /// Creates an array of `size` elements; bf16 becomes u16 with the attribute dtype = "bf16".
  Status add_array(const std::string& path, DType dtype, std::int64_t size);
  /// Gives the array or group `path` another name.
  Status add_link(const std::string& path, const std::string& name);
  /// Writes elements [first, first + piece.size) of the array that was added last.
  Status write(std::int64_t first, const ArrayView& piece);
  /// Where the array that was added last lies.
  [[nodiscard]] std::uint64_t array_offset() const { return array_offset_; }
  /// Tells where an array lies.
  Result<Hdf5Place> place(const std::string& path);
  /// Writes what HDF5 still holds back and lets go of the file.
  Status close();

 private:
  Hdf5File(Hdf5Helper helper, int fd) : helper_(std::move(helper)), fd_(fd) {}
  static Result<Hdf5File> begin(Hdf5Helper helper, int fd, Hdf5Op op, const Fields& fields);
  Status tell(Hdf5Op op, const Fields& fields = {});

  Hdf5Helper helper_;
  int fd_ = -1;
  std::uint64_t array_offset_ = 0;  ///< of the one added last
};

}  // namespace sptile::formats
