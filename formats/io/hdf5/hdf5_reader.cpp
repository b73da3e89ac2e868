#include "formats/io/hdf5/hdf5_reader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "formats/core/dtype.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/io/files/system_error.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kMaxItems = 32;  // maximum number of names, or of numbers in an attribute

tl::unexpected<Error> named(Error error, const std::string& name) {
  if (error.where.empty()) error.where = name;
  return tl::unexpected(std::move(error));
}

// Returns whether HDF5 can read numbers as this type; other values come from a helper corrupted by a damaged
// file.
bool is_type(NumberType type) {
  const bool width = type.bytes == 1 || type.bytes == 2 || type.bytes == 4 || type.bytes == 8;
  return type.kind >= NumberKind::boolean && type.kind <= NumberKind::real && width &&
         (type.kind != NumberKind::real || type.bytes > 1) &&
         (type.kind != NumberKind::boolean || type.bytes == 1);
}

}  // namespace

tl::unexpected<Error> Hdf5Reader::garbled() const {
  return fail(Errc::bad_input, "HDF5 crashes on this file: it is damaged; copy it again", name_);
}

Result<FieldReader> Hdf5Reader::ask(Hdf5Op op, const Fields& fields) const {
  auto answer = helper_->ask(op, fields);
  if (!answer) return named(std::move(answer.error()), name_);
  return answer;
}

Result<Hdf5Reader> Hdf5Reader::open(int fd, std::string name, const Progress* progress) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_failure(errno, "cannot examine", std::move(name));
  if (!S_ISREG(status.st_mode)) return fail(Errc::io, "is not a file", std::move(name));
  auto helper = Hdf5Helper::start(fd, Errc::bad_input, progress);
  if (!helper) return named(std::move(helper.error()), name);
  return open(std::move(*helper), std::move(name), status.st_size);
}

Result<Hdf5Reader> Hdf5Reader::open(Hdf5Helper helper, std::string name, std::int64_t file_bytes) {
  Hdf5Reader reader(std::move(helper), std::move(name), file_bytes);
  if (auto opened = reader.ask(Hdf5Op::open_input, Fields().text(reader.name_)); !opened)
    return tl::unexpected(std::move(opened.error()));
  return reader;
}

Result<std::optional<std::string>> Hdf5Reader::text(const std::string& attribute,
                                                    const std::string& object) const {
  auto answer = ask(Hdf5Op::text, Fields().text(attribute).text(object));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const bool found = answer->number() != 0;
  std::string text = answer->text();
  if (!answer->intact()) return garbled();
  return found ? std::optional(std::move(text)) : std::nullopt;
}

Result<std::optional<std::vector<std::int64_t>>> Hdf5Reader::integers(const std::string& attribute,
                                                                      const std::string& object) const {
  auto answer = ask(Hdf5Op::integers, Fields().text(attribute).text(object));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const bool found = answer->number() != 0;
  std::vector<std::int64_t> numbers;
  for (std::int64_t left = std::min(answer->number(), kMaxItems); left > 0; --left)
    numbers.push_back(answer->number());
  if (!answer->intact()) return garbled();
  return found ? std::optional(std::move(numbers)) : std::nullopt;
}

Result<bool> Hdf5Reader::has(const std::string& path) const {
  auto answer = ask(Hdf5Op::has, Fields().text(path));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return answer->number() != 0;
}

Result<std::vector<std::string>> Hdf5Reader::names() const {
  auto answer = ask(Hdf5Op::names);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  std::vector<std::string> names;
  for (std::int64_t left = std::min(answer->number(), kMaxItems); left > 0; --left)
    names.push_back(answer->text());
  if (!answer->intact()) return garbled();
  return names;
}

Result<Hdf5Array> Hdf5Reader::array(const std::string& name) const {
  auto answer = ask(Hdf5Op::array, Fields().text(name));
  if (!answer) return tl::unexpected(std::move(answer.error()));
  Hdf5Array array;
  array.name = name;
  array.handle = answer->number();
  const std::int64_t kind = answer->number(), bytes = answer->number();
  array.size = answer->number();
  const bool in_range = array.size / kMaxHdf5Ratio <= file_bytes_ && kind >= 0 &&
                        kind <= static_cast<std::int64_t>(NumberKind::real) && bytes <= 8 && array.size >= 0;
  array.type = {static_cast<NumberKind>(in_range ? kind : 0), static_cast<int>(in_range ? bytes : 0)};
  if (!answer->intact() || !in_range || !is_type(array.type)) return garbled();
  if (Status s = check_memory(where(name) + ": its elements", array.size * 8, available_memory()); !s)
    return tl::unexpected(std::move(s.error()));
  return array;
}

template <class T>
Status Hdf5Reader::read_as(const Hdf5Array& array, T* to) const {
  if (array.size == 0) return {};
  const std::span elements(to, static_cast<std::size_t>(array.size));
  Status s = helper_->ask_data(Hdf5Op::read,
                               Fields().number(array.handle).number(static_cast<std::int64_t>(dtype_of<T>)),
                               std::as_writable_bytes(elements));
  return s ? s : named(std::move(s.error()), where(array.name));
}

Status Hdf5Reader::read(const Hdf5Array& array, std::int32_t* to) const { return read_as(array, to); }
Status Hdf5Reader::read(const Hdf5Array& array, std::int64_t* to) const { return read_as(array, to); }
Status Hdf5Reader::read(const Hdf5Array& array, std::uint64_t* to) const { return read_as(array, to); }
Status Hdf5Reader::read(const Hdf5Array& array, float* to) const { return read_as(array, to); }
Status Hdf5Reader::read(const Hdf5Array& array, double* to) const { return read_as(array, to); }

}  // namespace sptile::formats
