// Messages between a process and its HDF5 helper, a program that calls the HDF5 library. See
// docs/design/decisions/0028-hdf5-in-a-helper.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Incremented with each change of a message; helpers of another version are rejected.
inline constexpr std::int64_t kHdf5Protocol = 1;

/// Requests. Each comment lists the request's fields and, after the arrow, those of the answer.
enum class Hdf5Op : std::uint32_t {
  hello,          ///< -> protocol, version of HDF5
  open_input,     ///< name for messages ->
  text,           ///< attribute, object -> found, text
  integers,       ///< attribute, object -> found, count, numbers
  has,            ///< path -> found
  names,          ///< -> count, names
  array,          ///< name -> handle, kind, bytes per element, elements
  read,           ///< handle, dtype -> data, then an answer without fields
  create_output,  ///< user block ->
  open_output,    ///< ->
  add_group,      ///< path ->
  has_member,     ///< name -> found
  remove,         ///< path ->
  add_attribute,  ///< path, name, kind of the ParameterValue, value ->
  add_array,      ///< path, dtype, elements -> offset
  add_link,       ///< path, name ->
  place,          ///< path -> offset, bytes
  close,          ///< ->
};
inline constexpr std::uint32_t kHdf5Ops = 18;

/// Maximum compression ratio of the supported filters (deflate).
inline constexpr std::int64_t kMaxHdf5Ratio = 1032;

enum class Hdf5Answer : std::uint32_t { done, failed, data };

/// Precedes each message: an Hdf5Op or Hdf5Answer, and the number of bytes that follow.
struct Hdf5Head {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
};
inline constexpr std::uint32_t kMaxHdf5Bytes = 4 << 20;  ///< maximum bytes per message

/// Builds the fields of a message.
class Fields {
 public:
  Fields& number(std::int64_t value);
  Fields& text(std::string_view value);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Parses the fields. Missing fields are 0 and "" and make the message invalid.
class FieldReader {
 public:
  explicit FieldReader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::int64_t number();
  std::string text();
  /// Returns whether no field was missing so far.
  [[nodiscard]] bool intact() const { return intact_; }

 private:
  std::string_view take(std::uint64_t bytes);

  std::string bytes_;
  std::size_t at_ = 0;
  bool intact_ = true;
};

Fields fields_of(const Error& error);
Error error_of(FieldReader& fields);

/// Sends one message; returns false if the connection is closed.
bool send_message(int socket, std::uint32_t kind, std::string_view bytes) noexcept;

}  // namespace sptile::formats
