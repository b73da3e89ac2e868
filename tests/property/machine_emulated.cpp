// Emulated devices.
#include "runtime/cuda/device/start_kernel.cuh"
#include "tests/property/machine_device.hpp"
#include "tests/runtime/cuda/emulated_block.hpp"
#include "tests/runtime/cuda/emulated_devices.hpp"

namespace sptile::test {
namespace {

class Emulated : public CudaMachine {
 public:
  [[nodiscard]] int devices() const override { return static_cast<int>(std::size(kEmulatedDevices)); }
  [[nodiscard]] bool is_fast() const override { return false; }

  /// Copies happen at once in every other run, as late as they may in the others.
  void before_run() override {
    emulated_block.late = !emulated_block.late;
    emulated_block.misaligned = EmulatedWarp::diverged = memory_order.violated = false;
  }
  std::string after_run() override {
    if (EmulatedWarp::diverged) return "lanes of a warp met at different places";
    if (memory_order.violated) return "a load saw a store of another warp that nothing orders before it";
    return emulated_block.misaligned ? "a copy to shared memory was not aligned" : "";
  }
};

}  // namespace

std::string_view device_backend() { return "emulated"; }

std::unique_ptr<Machine> make_device(bool, std::string&) { return std::make_unique<Emulated>(); }

}  // namespace sptile::test
