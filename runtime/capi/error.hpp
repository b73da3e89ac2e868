// How the C interface reports: no exception crosses it, messages wait in a buffer of the thread.
#pragma once

#include <new>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/include/sptile.h"

namespace sptile::runtime {

/// Stores the message and what follows it for sptile_last_error, as printable() shows them (cut after some
/// 1000 bytes); returns the code. Allocates nothing but the thread's buffer.
sptile_status report(Errc code, std::string_view message, std::string_view rest = {}) noexcept;

/// The same for an error, with its place in front.
sptile_status report(const Error& error) noexcept;

/// Calls f, which returns Status; reports its error or whatever it throws.
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

/// Makes the error for a pointer that must not be null.
inline auto null_argument(const char* function, const char* argument) {
  return fail(Errc::usage, std::string(function) + ": " + argument + " is NULL");
}

}  // namespace sptile::runtime
