// Uploads, on a device that does nothing before it is waited for: what is still on its way must stay as it
// is.
#include "runtime/cuda/device/upload.cpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <vector>

#include "formats/core/random.hpp"
#include "runtime/cuda/device/parts.hpp"

using namespace sptile;
using runtime::cuda::Parts;
using runtime::cuda::Uploader;

int runtime::max_threads() noexcept { return 2; }

namespace {

/// One stream of one device.
struct LateDevice {
  std::deque<std::function<void()>> work;  ///< what is enqueued and not done
  std::size_t done = 0;
  std::vector<std::size_t> events;  ///< how much was enqueued when each was recorded
  int streams = 0, copies = 0, clears = 0;

  void run_until(std::size_t end) {
    for (; done < end; ++done) {
      work.front()();
      work.pop_front();
    }
  }
  [[nodiscard]] std::size_t end() const { return done + work.size(); }
} device;

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

}  // namespace

cudaError_t cudaGetDevice(int* ordinal) { return *ordinal = 0, cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "error"; }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return *memory = std::malloc(bytes), cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  ++device.streams;
  return *stream = reinterpret_cast<cudaStream_t>(&device), cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  device.events.push_back(0);
  return *event = reinterpret_cast<cudaEvent_t>(device.events.size()), cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return device.events[reinterpret_cast<std::size_t>(event) - 1] = device.end(), cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return device.run_until(device.events[reinterpret_cast<std::size_t>(event) - 1]), cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return device.run_until(device.end()), cudaSuccess; }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  ++device.copies;
  return device.work.emplace_back([=] { std::memcpy(to, from, bytes); }), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
  ++device.clears;
  return device.work.emplace_back([=] { std::memset(to, byte, bytes); }), cudaSuccess;
}

TEST_CASE("uploads: what was copied arrives, whatever happens to where it came from") {
  for (const std::size_t count : {1, 300, 70'000, 600'000, 1 << 19, 5'000'000, 40'000'001}) {
    CAPTURE(count);
    const std::vector<std::byte> expected = random_bytes(count, count);
    std::vector<std::byte> on_device(count), source;
    RandomStream random(count);
    Uploader uploader;
    for (std::size_t at = 0; at < count;) {
      const std::size_t part =
          std::min(count - at, static_cast<std::size_t>(1 + random.below(1 + random.below(3'000'000))));
      source.assign(expected.begin() + static_cast<std::ptrdiff_t>(at),
                    expected.begin() + static_cast<std::ptrdiff_t>(at + part));
      REQUIRE(uploader.copy(on_device.data() + at, source.data(), part));
      std::fill(source.begin(), source.end(), std::byte{0xEE});
      at += part;
    }
    REQUIRE(uploader.finish());
    CHECK(on_device == expected);
  }
  CHECK(device.streams == 1);  // for all of them
}

TEST_CASE("uploads: parts, and zeros between them, in any order") {
  const std::vector<std::byte> a = random_bytes(1'000'001, 1), b = random_bytes(77, 2),
                               c = random_bytes(9'000'000, 3);
  Parts parts;
  const std::size_t at_a = parts.add(a.data(), a.size()), at_b = parts.add(b.data(), b.size()),
                    at_c = parts.add(c.data(), c.size());
  std::vector<std::byte> on_device(parts.total(), std::byte{0xAA}), other(c.size()), expected(parts.total());
  std::copy(a.begin(), a.end(), expected.begin() + static_cast<std::ptrdiff_t>(at_a));
  std::copy(b.begin(), b.end(), expected.begin() + static_cast<std::ptrdiff_t>(at_b));
  std::copy(c.begin(), c.end(), expected.begin() + static_cast<std::ptrdiff_t>(at_c));
  Uploader uploader;
  REQUIRE(uploader.copy(other.data() + 10, c.data() + 10, c.size() - 10));
  REQUIRE(parts.upload(on_device.data(), uploader));
  REQUIRE(uploader.copy(other.data(), c.data(), 10));
  REQUIRE(uploader.finish());
  CHECK(on_device == expected);
  CHECK(other == c);
}

TEST_CASE("uploads: little arrays that stand together are one copy") {
  const std::vector<std::byte> from = random_bytes(40'000, 4);
  Parts parts;
  for (int i = 0; i < 10; ++i) parts.add(from.data(), from.size() - static_cast<std::size_t>(i));
  std::vector<std::byte> on_device(parts.total());
  const int copies = device.copies, clears = device.clears;
  Uploader uploader;
  REQUIRE(parts.upload(on_device.data(), uploader));
  REQUIRE(uploader.finish());
  CHECK(device.copies == copies + 1);
  CHECK(device.clears == clears);
}

TEST_CASE("uploads: what is enqueued behind a send finds everything, and says so") {
  const std::vector<std::byte> from = random_bytes(3'000'000, 5);
  std::vector<std::byte> on_device(from.size());
  bool found = false;
  {
    Uploader uploader;
    REQUIRE(uploader.copy(on_device.data(), from.data(), from.size()));
    REQUIRE(uploader.send());
    CHECK(*uploader.flag() == 0);
    device.work.emplace_back([&] {
      found = on_device == from;
      *uploader.flag() = 1;
    });
    REQUIRE(uploader.copy(on_device.data(), from.data(), 1));
    REQUIRE(uploader.finish());
    CHECK(found);
    CHECK(*uploader.flag() == 1);
  }
  const Uploader next;
  CHECK(*next.flag() == 0);
}

TEST_CASE("uploads: one that is given up waits for what is on its way") {
  const std::vector<std::byte> from = random_bytes(100, 6);
  std::vector<std::byte> on_device(from.size());
  {
    Uploader uploader;
    REQUIRE(uploader.copy(on_device.data(), from.data(), from.size()));
    REQUIRE(uploader.send());
  }
  CHECK(device.work.empty());
}
