#include "formats/hdf5_helper/driver.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>

#include "formats/io/files/file_writes.hpp"

namespace sptile::formats {
namespace {

struct OpenFile {
  H5FD_t base;  // must be first: HDF5 accesses only this member
  int fd;
  haddr_t allocated;  // end of the allocated part, set by HDF5
  haddr_t size;       // actual end of the file
};

OpenFile& self(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& self(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

/// Stores the errno for hdf5_reason.
herr_t verdict(int errnum) {
  if (errnum == 0) return 0;
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR, "errno = %d",
           errnum);
  return -1;
}

H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
  const auto* fd = static_cast<const int*>(H5Pget_driver_info(access));
  struct stat status {};
  if (fd == nullptr || ::fstat(*fd, &status) != 0) return nullptr;
  auto* file = new (std::nothrow) OpenFile{{}, *fd, 0, static_cast<haddr_t>(status.st_size)};
  return file == nullptr ? nullptr : &file->base;
}

herr_t close(H5FD_t* file) {
  delete &self(file);
  return 0;
}

/// Returns the features of HDF5's default driver, so that files are identical.
herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return self(file).allocated; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  self(file).allocated = end;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return self(file).size; }

/// Bytes past the end of the file read as zeros.
herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t bytes, void* buffer) {
  auto* to = static_cast<std::byte*>(buffer);
  while (bytes > 0) {
    const ssize_t count = ::pread(self(file).fd, to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return verdict(errno);
    if (count == 0) break;
    const auto step = static_cast<std::size_t>(count);
    to += step, offset += step, bytes -= step;
  }
  std::memset(to, 0, bytes);
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t bytes, const void* buffer) {
  const herr_t done = verdict(write_all_at(self(file).fd, offset, buffer, bytes));
  if (done >= 0) self(file).size = std::max<haddr_t>(self(file).size, offset + bytes);
  return done;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  OpenFile& open = self(file);
  if (open.size == open.allocated) return 0;
  const herr_t done = verdict(resize_file(open.fd, open.allocated));
  if (done >= 0) open.size = open.allocated;
  return done;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION  // since HDF5 1.13
  driver.version = H5FD_CLASS_VERSION;
  driver.value = 511;  // in HDF5's range for unregistered drivers
#endif
  driver.name = "sptile_open_file";
  driver.maxaddr = std::numeric_limits<off_t>::max();
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(int);
  driver.open = open;
  driver.close = close;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  constexpr H5FD_mem_t kPools[] = H5FD_FLMAP_DICHOTOMY;  // like HDF5's default driver
  std::copy(std::begin(kPools), std::end(kPools), driver.fl_map);
  return driver;
}

}  // namespace

hid_t register_open_file_driver() {
  const H5FD_class_t driver = driver_class();
  return H5FDregister(&driver);
}

bool use_open_file(hid_t access, hid_t driver, int fd) { return H5Pset_driver(access, driver, &fd) >= 0; }

}  // namespace sptile::formats
