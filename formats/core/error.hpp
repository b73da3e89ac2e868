// The error type of all failures caused by input, files or devices. Its code is the exit status of the
// command.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sptile {

/// Kind of a failure. The values are the exit codes of the `sptile` command.
enum class Errc : int {
  ok = 0,
  usage = 2,         ///< invalid arguments (bad option, mismatched shapes)
  bad_input = 3,     ///< a file or an array violates its format
  unsupported = 4,   ///< well-formed, but sptile (or this format) cannot represent or run it
  io = 5,            ///< the system failed: no such file, disk full, out of memory
  device = 6,        ///< an accelerator is missing or failed
  check_failed = 7,  ///< a verification found mismatching numbers
  internal = 70,     ///< a bug in sptile
};

/// Describes one failure: what is wrong, what is valid, and the location ("cant.mtx:17").
struct Error {
  Errc code = Errc::internal;
  std::string message;
  std::string where;

  /// Returns "where: message", or only the message if there is no location.
  [[nodiscard]] std::string text() const { return where.empty() ? message : where + ": " + message; }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes an error Result: `return fail(Errc::bad_input, "row 0; indices are 1-based", "a.mtx:3");`
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

}  // namespace sptile
