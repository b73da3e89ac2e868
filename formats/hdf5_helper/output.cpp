#include "formats/hdf5_helper/output.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <type_traits>

#include "formats/hdf5_helper/driver.hpp"
#include "formats/layout/bundle_layout.hpp"

namespace sptile::formats {
namespace {

using TypeHandle = Hdf5Handle<H5Tclose>;
using SpaceHandle = Hdf5Handle<H5Sclose>;
using PropertiesHandle = Hdf5Handle<H5Pclose>;

/// Up to this number, HDF5 stores links and attributes compactly instead of in heaps and B-trees.
constexpr unsigned kMaxCompact = 1024;
/// HDF5 requires a name and checks whether it is a link, but does not use it.
constexpr const char* kNoName = "/";

tl::unexpected<Error> failure(const std::string& what) {
  const Hdf5Reason reason = hdf5_reason();
  if (reason.errnum != 0) return fail(Errc::io, what + ": " + std::generic_category().message(reason.errnum));
  return fail(Errc::io, what + "; HDF5 reports: " + reason.text);
}

hid_t half_type() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);  // positions and lengths of sign, exponent and mantissa
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

/// Storage type of each element type: little-endian on every machine.
struct StoredType {
  DType dtype;
  hid_t (*make)();
};
constexpr StoredType kStoredTypes[] = {
    {DType::u8, [] { return H5Tcopy(H5T_STD_U8LE); }},
    {DType::i32, [] { return H5Tcopy(H5T_STD_I32LE); }},
    {DType::u32, [] { return H5Tcopy(H5T_STD_U32LE); }},
    {DType::i64, [] { return H5Tcopy(H5T_STD_I64LE); }},
    {DType::u64, [] { return H5Tcopy(H5T_STD_U64LE); }},
    {DType::f16, half_type},
    {DType::bf16, [] { return H5Tcopy(H5T_STD_U16LE); }},
    {DType::f32, [] { return H5Tcopy(H5T_IEEE_F32LE); }},
    {DType::f64, [] { return H5Tcopy(H5T_IEEE_F64LE); }},
};

TypeHandle stored_type(DType dtype) {
  for (const StoredType& row : kStoredTypes)
    if (row.dtype == dtype) return TypeHandle(row.make());
  return {};
}

TypeHandle string_type(std::size_t bytes) {
  TypeHandle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), std::max<std::size_t>(bytes, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

/// Sets properties of groups and of the file, whose root is a group.
void make_reproducible_group(hid_t properties) {
  H5Pset_obj_track_times(properties, false);
  H5Pset_link_phase_change(properties, kMaxCompact, 0);
  H5Pset_attr_phase_change(properties, kMaxCompact, 0);
}

PropertiesHandle file_properties(std::uint64_t user_block) {
  PropertiesHandle properties(H5Pcreate(H5P_FILE_CREATE));
  if (H5Pset_userblock(properties.id(), user_block) < 0) return {};
  make_reproducible_group(properties.id());
  return properties;
}

PropertiesHandle access_properties() {
  PropertiesHandle properties(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(properties.id(), H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_alignment(properties.id(), 1, kBundleAlignment);
  return properties;
}

PropertiesHandle array_properties() {
  PropertiesHandle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_layout(properties.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

struct AttributeValue {
  TypeHandle type;
  const void* data;
};

AttributeValue stored_attribute(const ParameterValue& value) {
  using Kind = ParameterValue::Kind;
  if (value.kind == Kind::text)
    return {string_type(value.text.size()), value.text.c_str()};  // an empty string contains its final zero
  if (value.kind == Kind::real) return {stored_type(DType::f64), &value.real};
  return {stored_type(DType::i64), &value.integer};
}

}  // namespace

template <class Start>
Result<Hdf5Output> Hdf5Output::begin(int fd, const Start& start) {
  const Hdf5Call call;
  const PropertiesHandle access = access_properties();
  Hdf5Output file;
  file.driver_ = Hdf5Handle<H5FDunregister>(register_open_file_driver());
  if (use_open_file(access.id(), file.driver_.id(), fd))
    file.file_ = Hdf5Handle<H5Fclose>(start(access.id()));
  if (!file.file_) return failure("cannot create the HDF5 file");
  return file;
}

Result<Hdf5Output> Hdf5Output::create(int fd, std::uint64_t user_block) {
  return begin(fd, [=](hid_t access) {
    const PropertiesHandle creation = file_properties(user_block);
    return creation ? H5Fcreate(kNoName, H5F_ACC_TRUNC, creation.id(), access) : H5I_INVALID_HID;
  });
}

Result<Hdf5Output> Hdf5Output::open(int fd) {
  return begin(fd, [](hid_t access) { return H5Fopen(kNoName, H5F_ACC_RDWR, access); });
}

Hdf5Output::~Hdf5Output() { static_cast<void>(close()); }

Status Hdf5Output::add_group(const std::string& path) {
  const Hdf5Call call;
  const PropertiesHandle properties(H5Pcreate(H5P_GROUP_CREATE));
  make_reproducible_group(properties.id());
  const Hdf5Handle<H5Gclose> group(
      H5Gcreate2(file_.id(), path.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT));
  if (!group) return failure("cannot add the group " + path);
  return {};
}

bool Hdf5Output::has(const std::string& name) const {
  const Hdf5Call call;
  return H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0;
}

Status Hdf5Output::remove(const std::string& path) {
  const Hdf5Call call;
  if (H5Ldelete(file_.id(), path.c_str(), H5P_DEFAULT) < 0) return failure("cannot remove " + path);
  return {};
}

Status Hdf5Output::add_attribute(const std::string& path, const std::string& name,
                                 const ParameterValue& value) {
  const Hdf5Call call;
  const AttributeValue stored = stored_attribute(value);
  const SpaceHandle scalar(H5Screate(H5S_SCALAR));
  const Hdf5Handle<H5Aclose> attribute(H5Acreate_by_name(file_.id(), path.c_str(), name.c_str(),
                                                         stored.type.id(), scalar.id(), H5P_DEFAULT,
                                                         H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute || H5Awrite(attribute.id(), stored.type.id(), stored.data) < 0)
    return failure("cannot add the attribute " + name + " of " + path);
  return {};
}

Result<std::uint64_t> Hdf5Output::add_array(const std::string& path, DType dtype, std::int64_t size) {
  const Hdf5Call call;
  const auto extent = static_cast<hsize_t>(size);
  const SpaceHandle space(H5Screate_simple(1, &extent, nullptr));
  const TypeHandle type = stored_type(dtype);
  const PropertiesHandle properties = array_properties();
  const Hdf5Handle<H5Dclose> array(
      H5Dcreate2(file_.id(), path.c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT));
  if (!array) return failure("cannot add the array " + path);
  if (dtype == DType::bf16)
    if (Status s = add_attribute(path, "dtype", std::string(name_of(dtype))); !s)
      return tl::unexpected(std::move(s.error()));
  const haddr_t offset = size == 0 ? 0 : H5Dget_offset(array.id());
  if (offset == HADDR_UNDEF) return failure("cannot find the offset of the array " + path);
  return offset;
}

Status Hdf5Output::add_link(const std::string& path, const std::string& name) {
  const Hdf5Call call;
  if (H5Lcreate_hard(file_.id(), path.c_str(), file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0)
    return failure("cannot link " + name + " to " + path);
  return {};
}

Result<Hdf5Place> Hdf5Output::place(const std::string& path) const {
  const Hdf5Call call;
  const Hdf5Handle<H5Dclose> array(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT));
  if (!array) return failure("cannot find the array " + path);
  Hdf5Place place;
  place.bytes = H5Dget_storage_size(array.id());
  if (place.bytes == 0) return place;  // an empty array has an offset that looks valid but is not
  place.offset = H5Dget_offset(array.id());
  if (place.offset == HADDR_UNDEF || place.offset % kBundleAlignment != 0)
    return fail(Errc::internal, "HDF5 did not align the array " + path + "");
  return place;
}

Status Hdf5Output::close() {
  const Hdf5Call call;
  Status first;  // first failure, because HDF5's next call discards the reason
  const auto note = [&](bool closed) {
    if (!closed && first) first = failure("cannot finish the HDF5 file");
  };
  note(file_.close());
  note(driver_.close());
  return first;
}

}  // namespace sptile::formats
