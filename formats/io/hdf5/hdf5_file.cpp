#include "formats/io/hdf5/hdf5_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <string>
#include <utility>

#include "formats/io/files/file_writes.hpp"
#include "formats/io/files/system_error.hpp"

namespace sptile::formats {
namespace {

/// Appends the kind of the value, and the value.
Fields& put(Fields& fields, const ParameterValue& value) {
  using Kind = ParameterValue::Kind;
  fields.number(static_cast<std::int64_t>(value.kind));
  if (value.kind == Kind::text) return fields.text(value.text);
  return fields.number(value.kind == Kind::real ? std::bit_cast<std::int64_t>(value.real) : value.integer);
}

Result<Hdf5File> unstarted(Result<Hdf5Helper> helper) { return tl::unexpected(std::move(helper.error())); }

// Where possible, the helper opens the file again: a copy of our descriptor would keep the lock of AtomicFile
// for a moment after this process is killed.
Result<Hdf5Helper> start_writer(int fd, Errc damaged, const Progress* progress) {
  const int theirs = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC);
  auto helper = Hdf5Helper::start(theirs < 0 ? fd : theirs, damaged, progress);
  if (theirs >= 0) ::close(theirs);
  return helper;
}

}  // namespace

Result<Hdf5File> Hdf5File::begin(Hdf5Helper helper, int fd, Hdf5Op op, const Fields& fields) {
  Hdf5File file(std::move(helper), fd);
  if (Status s = file.send(op, fields); !s) return tl::unexpected(std::move(s.error()));
  return file;
}

Result<Hdf5File> Hdf5File::create(int fd, std::uint64_t user_block, const Progress* progress) {
  auto helper = start_writer(fd, Errc::io, progress);
  return helper ? create(std::move(*helper), fd, user_block) : unstarted(std::move(helper));
}

Result<Hdf5File> Hdf5File::create(Hdf5Helper helper, int fd, std::uint64_t user_block) {
  return begin(std::move(helper), fd, Hdf5Op::create_output,
               Fields().number(static_cast<std::int64_t>(user_block)));
}

Result<Hdf5File> Hdf5File::open(int fd, const Progress* progress) {
  auto helper = start_writer(fd, Errc::bad_input, progress);
  return helper ? begin(std::move(*helper), fd, Hdf5Op::open_output, {}) : unstarted(std::move(helper));
}

Status Hdf5File::send(Hdf5Op op, const Fields& fields) {
  auto answer = helper_.ask(op, fields);
  return answer ? Status() : tl::unexpected(std::move(answer.error()));
}

Status Hdf5File::add_group(const std::string& path) { return send(Hdf5Op::add_group, Fields().text(path)); }

Result<bool> Hdf5File::has(const std::string& name) {
  auto answer = helper_.ask(Hdf5Op::has_member, Fields().text(name));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return answer->number() != 0;
}

Status Hdf5File::remove(const std::string& path) { return send(Hdf5Op::remove, Fields().text(path)); }

Status Hdf5File::add_attribute(const std::string& path, const std::string& name,
                               const ParameterValue& value) {
  Fields fields;
  fields.text(path).text(name);
  return send(Hdf5Op::add_attribute, put(fields, value));
}

Status Hdf5File::add_array(const std::string& path, DType dtype, std::int64_t size) {
  auto answer = helper_.ask(Hdf5Op::add_array,
                            Fields().text(path).number(static_cast<std::int64_t>(dtype)).number(size));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  array_offset_ = static_cast<std::uint64_t>(answer->number());
  return {};
}

Status Hdf5File::add_link(const std::string& path, const std::string& name) {
  return send(Hdf5Op::add_link, Fields().text(path).text(name));
}

// Bypasses HDF5: the offset is fixed, and this process has the file open.
Status Hdf5File::write(std::int64_t first, const ArrayView& piece) {
  if (piece.size == 0) return {};
  const std::uint64_t skip = static_cast<std::uint64_t>(first) * size_of(piece.dtype);
  const int failed =
      write_all_at(fd_, array_offset_ + skip, piece.data, static_cast<std::size_t>(piece.bytes()));
  if (failed != 0) return system_failure(failed, "cannot write", {});
  return {};
}

Result<Hdf5Place> Hdf5File::place(const std::string& path) {
  auto answer = helper_.ask(Hdf5Op::place, Fields().text(path));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  Hdf5Place place;
  place.offset = static_cast<std::uint64_t>(answer->number());
  place.bytes = static_cast<std::uint64_t>(answer->number());
  return place;
}

Status Hdf5File::close() { return send(Hdf5Op::close); }

}  // namespace sptile::formats
