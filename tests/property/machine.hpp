// Execution environments: memory for operands, and observable effects of a run other than its results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "runtime/core/options.hpp"

namespace sptile::test {

/// One program has the CPU and CUDA devices, the other one the CPU and emulated devices.
class Machine {
 public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  ///< as given to --backend
  [[nodiscard]] virtual runtime::Device device() const = 0;
  [[nodiscard]] virtual int devices() const { return 1; }  ///< number of devices for cases
  [[nodiscard]] virtual int capability() const { return 0; }
  /// Returns whether runs are so fast that large cases may be added.
  [[nodiscard]] virtual bool is_fast() const { return true; }

  /// Allocates memory aligned to 256 bytes.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  /// Waits for all runs.
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  [[nodiscard]] virtual bool has_graphs() const { return false; }
  /// Captures each run, called with a stream, in a CUDA graph, and replays the graphs on several streams.
  virtual Status replay(std::span<const std::function<Status(void* stream)>> /*runs*/) { return {}; }
  virtual void before_run() {}
  /// Returns the error of the run; empty if there is none.
  virtual std::string after_run() { return {}; }
};

std::unique_ptr<Machine> make_cpu();

/// Returns CUDA device 0, or the emulated devices; null with the reason if there are none. `exact`:
/// allocations end at the last byte of operands, for memcheck.
std::unique_ptr<Machine> make_device(bool exact, std::string& why_not);

/// Returns "cuda" or "emulated".
std::string_view device_backend();

}  // namespace sptile::test
