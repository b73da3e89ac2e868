// Where products run: memory for their operands, and how long they take there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "formats/core/error.hpp"
#include "runtime/include/sptile.hpp"

namespace sptile::tools::batch {

/// Does some products, one after the other, on a stream of the place.
using Step = std::function<void(void* stream)>;

class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  [[nodiscard]] virtual Device device() const = 0;
  /// Memory with a copy of host memory, as long as the place lives.
  virtual void* put(const void* from, std::size_t bytes) = 0;
  /// Copies host memory there, and back.
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  /// Does a step once, and waits for it.
  virtual void run(const Step& step) = 0;
  /// Median microseconds of a step that is called from the host, one call following the other.
  virtual double call_us(const Step& step) = 0;
  /// The same of a step that was captured in a CUDA graph; nothing on the host.
  virtual std::optional<double> graph_us(const Step& step) = 0;
};

std::unique_ptr<Place> host_place();

/// CUDA device 0. Errc::device where there is none, or where sptile was built without CUDA.
Result<std::unique_ptr<Place>> cuda_place();

}  // namespace sptile::tools::batch
