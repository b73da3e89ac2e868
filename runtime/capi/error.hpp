// Error reporting of the C interface: exceptions are caught, and messages are stored in a buffer of the
// thread.
#pragma once

#include <new>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/include/sptile.h"

namespace sptile::runtime {

/// Stores the message and `rest` for sptile_last_error, converted by printable() and truncated after about
/// 1000 bytes. Returns the code. Allocates nothing except the thread's buffer.
sptile_status report(Errc code, std::string_view message, std::string_view rest = {}) noexcept;

/// Stores an error's message, prefixed with its place.
sptile_status report(const Error& error) noexcept;

/// Calls f, which returns Status, and reports its error or exception.
template <class F>
sptile_status guarded(F f) noexcept {
  try {
    const Status status = f();
    return status ? SPTILE_STATUS_OK : report(status.error());
  } catch (const std::bad_alloc&) {
    return report(Errc::io, "out of memory");
  } catch (...) {
    return report(Errc::internal, "unexpected exception; please report this as a bug");
  }
}

/// Returns the error for a pointer that must not be null.
inline auto null_argument(const char* function, const char* argument) {
  return fail(Errc::usage, std::string(function) + ": " + argument + " is NULL");
}

}  // namespace sptile::runtime
