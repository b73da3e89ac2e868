#include "formats/io/hdf5/hdf5_message.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace sptile::formats {
namespace {

bool send_all(int socket, const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::send(socket, from, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count, bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

Fields& Fields::number(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

Fields& Fields::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

std::string_view FieldReader::take(std::uint64_t bytes) {
  intact_ = intact_ && bytes <= bytes_.size() - at_;
  if (!intact_) return {};
  const std::string_view piece = std::string_view(bytes_).substr(at_, bytes);
  at_ += bytes;
  return piece;
}

std::int64_t FieldReader::number() {
  std::int64_t value = 0;
  const std::string_view piece = take(sizeof value);
  std::copy(piece.begin(), piece.end(), reinterpret_cast<char*>(&value));
  return value;
}

std::string FieldReader::text() { return std::string(take(static_cast<std::uint64_t>(number()))); }

Fields fields_of(const Error& error) {
  Fields fields;
  fields.number(static_cast<std::int64_t>(error.code)).text(error.message).text(error.where);
  return fields;
}

Error error_of(FieldReader& fields) {
  constexpr Errc kKnown[] = {Errc::usage, Errc::bad_input, Errc::unsupported, Errc::io};
  const auto code = static_cast<Errc>(fields.number());
  const bool known = std::find(std::begin(kKnown), std::end(kKnown), code) != std::end(kKnown);
  Error error{known ? code : Errc::internal, fields.text(), ""};
  error.where = fields.text();
  return error;
}

bool send_message(int socket, std::uint32_t kind, std::string_view bytes) noexcept {
  const Hdf5Head head{kind, static_cast<std::uint32_t>(bytes.size())};
  return bytes.size() <= kMaxHdf5Bytes && send_all(socket, &head, sizeof head) &&
         send_all(socket, bytes.data(), bytes.size());
}

}  // namespace sptile::formats
