// One error type for everything that input, files or devices can cause. The command's exit status is the
// code.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sptile {

/// Says what kind of failure happened; the values are the exit codes of the `sptile` command.
enum class Errc : int {
  ok = 0,
  usage = 2,         ///< the caller asked for something meaningless (bad option, mismatched shapes)
  bad_input = 3,     ///< a file or an array breaks its format
  unsupported = 4,   ///< well-formed, but sptile (or this format) cannot represent or run it
  io = 5,            ///< the system refused: no such file, disk full, out of memory
  device = 6,        ///< an accelerator is missing or failed
  check_failed = 7,  ///< a verification found different numbers
  internal = 70,     ///< a bug in sptile
};

/// Describes one failure: what is wrong and what would be right, and where ("cant.mtx:17").
struct Error {
  Errc code = Errc::internal;
  std::string message;
  std::string where;

  /// Formats "where: message", or the message alone when there is no place to name.
  [[nodiscard]] std::string text() const { return where.empty() ? message : where + ": " + message; }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes the unexpected half of a Result: `return fail(Errc::bad_input, "row 0; indices are 1-based",
/// "a.mtx:3");`
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

}  // namespace sptile
