#include "formats/hdf5_helper/input.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/core/buffer.hpp"
#include "formats/core/quote.hpp"
#include "formats/hdf5_helper/driver.hpp"
#include "formats/io/files/system_error.hpp"
#include "formats/io/hdf5/hdf5_message.hpp"

namespace sptile::formats {
namespace {

using TypeHandle = Hdf5Handle<H5Tclose>;
using SpaceHandle = Hdf5Handle<H5Sclose>;
using PropertiesHandle = Hdf5Handle<H5Pclose>;

constexpr std::size_t kLongestText = 64 << 10;  // maximum bytes of an attribute's text

tl::unexpected<Error> damaged(const std::string& where, const std::string& what) {
  const Hdf5Reason reason = hdf5_reason();
  if (reason.errnum != 0) return system_failure(reason.errnum, what, where);
  return fail(Errc::bad_input, what + "; HDF5 reports: " + reason.text + "; copy the file again", where);
}

// Filters whose compression ratio is at most kMaxHdf5Ratio.
bool is_known(H5Z_filter_t filter) {
  return filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
}

Result<NumberType> type_of(hid_t array, const std::string& where) {
  const TypeHandle type(H5Dget_type(array));
  const H5T_class_t kind = H5Tget_class(type.id());
  const std::size_t bytes = H5Tget_size(type.id());
  if (kind == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8))
    return NumberType{H5Tget_sign(type.id()) == H5T_SGN_NONE ? NumberKind::natural : NumberKind::integer,
                      static_cast<int>(bytes)};
  if (kind == H5T_ENUM && bytes == 1)
    return NumberType{NumberKind::boolean, 1};  // h5py's representation of
                                                // bool
  if (kind == H5T_FLOAT && (bytes == 2 || bytes == 4 || bytes == 8))
    return NumberType{NumberKind::real, static_cast<int>(bytes)};
  return fail(Errc::unsupported, "has elements that are neither integers nor real numbers of up to 64 bits",
              where);
}

// Returns the elements per chunk; 0 if the array is contiguous.
std::int64_t chunk_elements(hid_t properties) {
  hsize_t extent = 0;
  return H5Pget_layout(properties) == H5D_CHUNKED && H5Pget_chunk(properties, 1, &extent) == 1
             ? static_cast<std::int64_t>(extent)
             : 0;
}

// Returns the elements per read: complete chunks, so that each is decompressed once, but a bounded number,
// because HDF5 lists them.
std::int64_t piece_elements(std::int64_t chunk) {
  constexpr std::int64_t kElements = 1 << 18, kMaxChunks = 1024;
  return chunk == 0 ? kElements : chunk * std::clamp<std::int64_t>(kElements / chunk, 1, kMaxChunks);
}

hid_t native_type(DType dtype) {
  switch (dtype) {
    case DType::i32:
      return H5T_NATIVE_INT32;
    case DType::i64:
      return H5T_NATIVE_INT64;
    case DType::u64:
      return H5T_NATIVE_UINT64;
    case DType::f32:
      return H5T_NATIVE_FLOAT;
    case DType::f64:
      return H5T_NATIVE_DOUBLE;
    default:
      return H5I_INVALID_HID;
  }
}

bool has_attribute(hid_t file, const std::string& object, const std::string& name) {
  return H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

/// Opens an attribute of a group or array.
struct Attribute {
  Attribute(hid_t file, const std::string& object, const std::string& name)
      : id(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT)),
        type(H5Aget_type(id.id())),
        count(H5Sget_simple_extent_npoints(SpaceHandle(H5Aget_space(id.id())).id())) {}

  Hdf5Handle<H5Aclose> id;
  TypeHandle type;
  hssize_t count;  ///< number of elements; negative on failure
};

herr_t note_name(hid_t, const char* name, const H5L_info_t*, void* data) {
  constexpr std::size_t kMaxNames = 5;
  auto& names = *static_cast<std::vector<std::string>*>(data);
  names.emplace_back(name);
  return names.size() < kMaxNames ? 0 : 1;
}

}  // namespace

Result<Hdf5Input> Hdf5Input::open(int fd, std::string name) {
  const Hdf5Call call;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_failure(errno, "cannot examine", std::move(name));
  Hdf5Input reader;
  reader.name_ = std::move(name);
  reader.file_bytes_ = status.st_size;
  reader.driver_ = Hdf5Handle<H5FDunregister>(register_open_file_driver());
  const PropertiesHandle access(H5Pcreate(H5P_FILE_ACCESS));
  if (use_open_file(access.id(), reader.driver_.id(), fd))
    reader.file_ = Hdf5Handle<H5Fclose>(H5Fopen("/", H5F_ACC_RDONLY, access.id()));
  if (!reader.file_) return damaged(reader.name_, "the HDF5 file cannot be opened");
  return reader;
}

Hdf5Input::~Hdf5Input() {
  const Hdf5Call call;
  file_.close();
  driver_.close();
}

Result<std::optional<std::string>> Hdf5Input::text(const std::string& attribute,
                                                   const std::string& object) const {
  const Hdf5Call call;
  if (!has_attribute(file_.id(), object, attribute)) return std::nullopt;
  const Attribute found(file_.id(), object, attribute);
  if (!found.id || H5Tget_class(found.type.id()) != H5T_STRING || found.count != 1)
    return fail(Errc::bad_input, "the attribute " + quoted(attribute) + " is not text", name_);
  if (H5Tis_variable_str(found.type.id()) > 0) {
    const TypeHandle variable(H5Tcopy(found.type.id()));
    char* text = nullptr;
    if (H5Aread(found.id.id(), variable.id(), &text) < 0 || text == nullptr)
      return damaged(name_, "the attribute " + quoted(attribute) + " cannot be read");
    std::string copied(text, ::strnlen(text, kLongestText));
    H5free_memory(text);
    return copied;
  }
  std::string fixed(std::min(H5Tget_size(found.type.id()), kLongestText + 1), '\0');
  if (fixed.size() > kLongestText)
    return fail(Errc::bad_input, "the attribute " + quoted(attribute) + " is too long", name_);
  if (H5Aread(found.id.id(), found.type.id(), fixed.data()) < 0)
    return damaged(name_, "the attribute " + quoted(attribute) + " cannot be read");
  return fixed.substr(0, fixed.find('\0'));
}

Result<std::optional<std::vector<std::int64_t>>> Hdf5Input::integers(const std::string& attribute,
                                                                     const std::string& object) const {
  constexpr hssize_t kMaxNumbers = 32;
  const Hdf5Call call;
  if (!has_attribute(file_.id(), object, attribute)) return std::nullopt;
  const Attribute found(file_.id(), object, attribute);
  if (!found.id || H5Tget_class(found.type.id()) != H5T_INTEGER || H5Tget_size(found.type.id()) > 8 ||
      found.count < 0 || found.count > kMaxNumbers)
    return fail(Errc::bad_input, "the attribute " + quoted(attribute) + " is not an integer array",
                where(object));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(found.count));
  if (found.count > 0 && H5Aread(found.id.id(), H5T_NATIVE_INT64, numbers.data()) < 0)
    return damaged(where(object), "the attribute " + quoted(attribute) + " cannot be read");
  return numbers;
}

// Rejects soft and external links, which could lead to another file or form a cycle.
Status Hdf5Input::check_links(const std::string& path) const {
  for (std::size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    H5L_info_t link{};
    if (H5Lexists(file_.id(), part.c_str(), H5P_DEFAULT) <= 0)
      return fail(Errc::bad_input, "the array is missing", where(path));
    if (H5Lget_info(file_.id(), part.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      return fail(Errc::unsupported, "is a link to another object; copy the file with h5repack", where(path));
  }
  return {};
}

bool Hdf5Input::has(const std::string& path) const {
  const Hdf5Call call;
  return check_links(path).has_value();
}

std::vector<std::string> Hdf5Input::names() const {
  const Hdf5Call call;
  std::vector<std::string> names;
  H5Literate(file_.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, note_name, &names);
  return names;
}

Status Hdf5Input::check_storage(const StoredArray& array) const {
  const PropertiesHandle properties(H5Dget_create_plist(array.id.id()));
  const H5D_layout_t layout = H5Pget_layout(properties.id());
  const bool in_file = layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED;
  if (!in_file || H5Pget_external_count(properties.id()) != 0)
    return fail(Errc::unsupported, "stores its data in other files; copy the file with h5repack",
                where(array.name));
  const int filters = H5Pget_nfilters(properties.id());
  for (int i = 0; i < filters; ++i) {
    std::size_t values = 0;
    unsigned flags = 0, config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &values,
                                               nullptr, 0, nullptr, &config);
    if (!is_known(filter))
      return fail(Errc::unsupported,
                  "is compressed by filter " + std::to_string(filter) +
                      " of HDF5; convert it with h5repack -f GZIP=1",
                  where(array.name));
  }
  const auto stored = static_cast<std::int64_t>(H5Dget_storage_size(array.id.id()));
  const std::int64_t bytes = array.size * array.type.bytes;
  if (stored < 0 || stored > file_bytes_ || bytes / (filters > 0 ? kMaxHdf5Ratio : 1) > stored)
    return fail(Errc::bad_input,
                std::to_string(stored) + " bytes in a file of " + std::to_string(file_bytes_) +
                    " cannot hold its " + std::to_string(array.size) + " elements",
                where(array.name));
  return {};
}

Result<StoredArray> Hdf5Input::array(const std::string& name) const {
  const Hdf5Call call;
  if (Status s = check_links(name); !s) return tl::unexpected(std::move(s.error()));
  StoredArray array;
  array.name = name;
  array.id = Hdf5Handle<H5Dclose>(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT));
  if (!array.id) return damaged(where(name), "the array cannot be opened");
  const auto type = type_of(array.id.id(), where(name));
  if (!type) return tl::unexpected(type.error());
  array.type = *type;
  const SpaceHandle space(H5Dget_space(array.id.id()));
  constexpr hsize_t kMaxElements = hsize_t{1} << 56;
  hsize_t extent = 0;
  const bool line = H5Sget_simple_extent_type(space.id()) == H5S_SIMPLE &&
                    H5Sget_simple_extent_ndims(space.id()) == 1 &&
                    H5Sget_simple_extent_dims(space.id(), &extent, nullptr) == 1;
  if (!line || extent > kMaxElements)
    return fail(Errc::bad_input, "is not a one-dimensional array", where(name));
  array.size = static_cast<std::int64_t>(extent);
  if (Status s = check_storage(array); !s) return tl::unexpected(std::move(s.error()));
  array.chunk = chunk_elements(PropertiesHandle(H5Dget_create_plist(array.id.id())).id());
  return array;
}

Status Hdf5Input::read(const StoredArray& array, DType dtype,
                       const std::function<bool(const char*, std::size_t)>& take) const {
  const auto width = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t step = std::min(array.size, piece_elements(array.chunk));
  Buffer<char> piece(step * width);
  const Hdf5Call call;
  const SpaceHandle space(H5Dget_space(array.id.id()));
  for (std::int64_t first = 0; first < array.size; first += step) {
    const auto start = static_cast<hsize_t>(first);
    const auto count = static_cast<hsize_t>(std::min(step, array.size - first));
    const SpaceHandle memory(H5Screate_simple(1, &count, nullptr));
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) < 0 ||
        H5Dread(array.id.id(), native_type(dtype), memory.id(), space.id(), H5P_DEFAULT, piece.data()) < 0)
      return damaged(where(array.name), "the array cannot be read");
    if (!take(piece.data(), static_cast<std::size_t>(count) * static_cast<std::size_t>(width))) break;
  }
  return {};
}

}  // namespace sptile::formats
