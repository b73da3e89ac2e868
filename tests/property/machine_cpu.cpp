// The CPU.
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/property/machine.hpp"

namespace sptile::test {
namespace {

class Cpu : public Machine {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] runtime::Device device() const override { return runtime::Device::cpu; }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    void* data = nullptr;
    if (posix_memalign(&data, 256, bytes) != 0) throw std::bad_alloc();
    return {static_cast<std::byte*>(data), std::free};
  }
  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
  }
};

}  // namespace

std::unique_ptr<Machine> make_cpu() { return std::make_unique<Cpu>(); }

}  // namespace sptile::test
