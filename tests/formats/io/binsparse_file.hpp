// Valid and invalid binsparse files, as other programs may write them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"

namespace sptile {

/// An array of the root group: its name, and elements of any type.
struct BinsparseArray {
  std::string name;
  DType dtype;
  std::string bytes;

  template <class T>
  static BinsparseArray of(std::string name, const std::vector<T>& elements) {
    return {std::move(name), dtype_of<T>,
            std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T))};
  }
};

struct BinsparseFile {
  std::string descriptor;  ///< text of the attribute; no attribute if empty
  std::vector<BinsparseArray> arrays;

  /// Writes to the empty file open as `fd`.
  [[nodiscard]] Status write(int fd) const { return write(formats::Hdf5File::create(fd, 0)); }

  [[nodiscard]] Status write(Result<formats::Hdf5File> file) const {
    if (!file) return tl::unexpected(file.error());
    for (const BinsparseArray& array : arrays) {
      const auto size = static_cast<std::int64_t>(array.bytes.size() / size_of(array.dtype));
      Status s = file->add_array("/" + array.name, array.dtype, size);
      if (s) s = file->write(0, {array.dtype, array.bytes.data(), size});
      if (!s) return s;
    }
    if (!descriptor.empty())
      if (Status s = file->add_attribute("/", "binsparse", descriptor); !s) return s;
    return file->close();
  }

  [[nodiscard]] Status write(const std::string& path) const {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Status s = fd < 0 ? fail(Errc::io, "cannot open", path) : write(fd);
    ::close(fd);
    return s;
  }
};

}  // namespace sptile
