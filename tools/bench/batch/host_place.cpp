#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/bench/batch/place.hpp"
#include "tools/measure/time_summary.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools::batch {
namespace {

constexpr int kGroups = 11;
constexpr double kGroupSeconds = 0.02;

class HostPlace : public Place {
 public:
  [[nodiscard]] Device device() const override { return Device::cpu; }
  void* put(const void* from, std::size_t bytes) override {
    const auto* first = static_cast<const std::byte*>(from);
    return memory_.emplace_back(std::make_unique<std::vector<std::byte>>(first, first + bytes))->data();
  }
  void write(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void read(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void run(const Step& step) override { step(nullptr); }

  double call_us(const Step& step) override {
    step(nullptr);
    const double once = seconds_of(step, 1);
    const int together = static_cast<int>(std::clamp(kGroupSeconds / once, 1.0, 1000.0));
    std::vector<double> us;
    for (int group = 0; group < kGroups; ++group) us.push_back(1e6 * seconds_of(step, together) / together);
    return summarise(std::move(us)).median;
  }
  std::optional<double> graph_us(const Step& /*step*/) override { return {}; }

 private:
  static double seconds_of(const Step& step, int times) {
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) step(nullptr);
    return watch.seconds();
  }

  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
};

}  // namespace

std::unique_ptr<Place> host_place() { return std::make_unique<HostPlace>(); }

}  // namespace sptile::tools::batch
