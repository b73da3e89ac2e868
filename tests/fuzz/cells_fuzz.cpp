// Makes an HDF5 file of any bytes, sound in itself, with the groups, attributes and arrays of AnnData or 10x
// Genomics as they come, and reads it: not crashing, and a matrix that is accepted is a valid CSR.
#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "formats/hdf5_helper/call.hpp"
#include "formats/hdf5_helper/driver.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"
#include "tests/fuzz/read_fuzzed.hpp"

using namespace sptile;
using formats::Hdf5Handle;

namespace {

constexpr const char* kGroups[] = {"X", "matrix", "GRCh38"};

/// Takes pieces off the front; behind the end there are none.
struct Bytes {
  std::string_view left;

  std::string_view take(std::size_t count) {
    const std::string_view piece = left.substr(0, count);
    left.remove_prefix(piece.size());
    return piece;
  }
  std::size_t number() {
    const std::string_view piece = take(1);
    return piece.empty() ? 0 : static_cast<unsigned char>(piece[0]);
  }
  std::string text() {
    std::string text(take(std::min(left.find('\0'), left.size())));
    take(1);
    return text;
  }
};

Status add_array(formats::Hdf5File& file, const std::string& path, Bytes& bytes) {
  const auto dtype = static_cast<DType>(bytes.number() % 10);
  const std::string_view content = bytes.take(bytes.number());
  if (dtype == DType::none) return {};
  const auto size = static_cast<std::int64_t>(content.size() / size_of(dtype));
  Status s = file.add_array(path, dtype, size);
  return s ? file.write(0, {dtype, content.data(), size}) : s;
}

// The group's number, its encoding up to a zero (none where it is empty), its arrays: a type, a number of
// bytes, and these.
Status write(Result<formats::Hdf5File> file, const std::string& group, Bytes& bytes) {
  if (!file) return tl::unexpected(file.error());
  Status s = file->add_group("/" + group);
  if (const std::string encoding = bytes.text(); s && !encoding.empty())
    s = file->add_attribute("/" + group, "encoding-type", encoding);
  for (const char* name : {"data", "indices", "indptr", "shape", "barcodes"})
    if (s) s = add_array(*file, "/" + group + "/" + name, bytes);
  return s ? file->close() : s;
}

// The attribute that holds the shape of AnnData, which our writer cannot make.
void add_shape(int fd, const std::string& group, Bytes& bytes) {
  std::array<std::int64_t, 3> shape{};
  const hsize_t count = bytes.number() % (shape.size() + 1);
  const std::string_view numbers = bytes.take(sizeof shape);
  std::memcpy(shape.data(), numbers.data(), numbers.size());
  const formats::Hdf5Call call;
  const Hdf5Handle<H5FDunregister> driver(formats::register_open_file_driver());
  const Hdf5Handle<H5Pclose> access(H5Pcreate(H5P_FILE_ACCESS));
  if (!formats::use_open_file(access.id(), driver.id(), fd)) std::abort();
  const Hdf5Handle<H5Fclose> file(H5Fopen("/", H5F_ACC_RDWR, access.id()));
  const Hdf5Handle<H5Sclose> space(H5Screate_simple(1, &count, nullptr));
  const Hdf5Handle<H5Aclose> attribute(H5Acreate_by_name(file.id(), group.c_str(), "shape", H5T_STD_I64LE,
                                                         space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute || (count > 0 && H5Awrite(attribute.id(), H5T_NATIVE_INT64, shape.data()) < 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes{{reinterpret_cast<const char*>(data), size}};
  const std::string group = kGroups[bytes.number() % std::size(kGroups)];
  const int fd = ::memfd_create("fuzz.h5ad", MFD_CLOEXEC);
  if (fd < 0) std::abort();
  with_hdf5_thread(fd, [&](formats::Hdf5Helper helper) {
    if (!write(formats::Hdf5File::create(std::move(helper), fd, 0), group, bytes)) std::abort();
  });
  add_shape(fd, group, bytes);
  read_fuzzed(fd, "cells_fuzz");
  ::close(fd);
  return 0;
}
