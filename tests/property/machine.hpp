// Where products run: memory for their operands, and what can be seen of a run beside its results.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/core/options.hpp"

namespace sptile::test {

/// One program has the CPU and CUDA devices, another one the CPU and emulated devices.
class Machine {
 public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  ///< as --backend has it
  [[nodiscard]] virtual runtime::Device device() const = 0;
  [[nodiscard]] virtual int devices() const { return 1; }  ///< that cases may choose from
  [[nodiscard]] virtual int capability() const { return 0; }
  /// Whether a run takes so little that large cases may be added.
  [[nodiscard]] virtual bool is_fast() const { return true; }

  /// Memory at an address that is a multiple of 256.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  /// Waits for all runs.
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void before_run() {}
  /// Empty, or what went wrong in the run.
  virtual std::string after_run() { return {}; }
};

std::unique_ptr<Machine> make_cpu();

/// CUDA device 0, or the emulated ones. Null with the reason when there are none. `exact`: allocations end
/// where operands do, for memcheck.
std::unique_ptr<Machine> make_device(bool exact, std::string& why_not);

/// "cuda" or "emulated".
std::string_view device_backend();

}  // namespace sptile::test
