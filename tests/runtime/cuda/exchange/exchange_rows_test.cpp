// The kernel that exchanges rows, run by threads: each block of each device is one.
#include "runtime/cuda/exchange/exchange_rows.cuh"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "formats/core/random.hpp"

using namespace sptile;
using namespace sptile::runtime::cuda;

namespace {

using Words = std::vector<std::uint64_t>;

std::atomic_ref<std::uint64_t> shared(const std::uint64_t* word) {
  return std::atomic_ref(*const_cast<std::uint64_t*>(word));
}

/// One block of one thread.
struct ThreadSystem {
  int number, count;
  [[nodiscard]] static int thread() { return 0; }
  [[nodiscard]] static int threads() { return 1; }
  [[nodiscard]] int block() const { return number; }
  [[nodiscard]] int blocks() const { return count; }
  static std::uint64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }
  static void pause() { std::this_thread::yield(); }
  static std::uint64_t acquire(const std::uint64_t* word) {
    return shared(word).load(std::memory_order_acquire);
  }
  static void release(std::uint64_t* word, std::uint64_t value) {
    shared(word).store(value, std::memory_order_release);
  }
  static std::uint64_t load(const std::uint64_t* word) {
    return shared(word).load(std::memory_order_relaxed);
  }
  static void store(std::uint64_t* word, std::uint64_t value) {
    shared(word).store(value, std::memory_order_relaxed);
  }
  static bool is_set(std::int32_t* fault) { return std::atomic_ref(*fault).load() != 0; }
  static void report(std::int32_t* fault, std::int32_t value) { std::atomic_ref(*fault).store(value); }
  static bool any(bool here) { return here; }
  [[nodiscard]] bool last_block(std::uint64_t* tickets) const {
    return shared(tickets).fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint64_t>(count);
  }
};

/// A route between devices: sends[a][b] are the rows that a sends to b. Devices are peers if either sends
/// rows to the other, or if `all` are.
struct Route {
  std::vector<std::vector<std::vector<std::int64_t>>> sends;
  bool all = false;
  [[nodiscard]] std::size_t devices() const { return sends.size(); }
  [[nodiscard]] bool are_peers(std::size_t a, std::size_t b) const {
    return a != b && (all || !sends[a][b].empty() || !sends[b][a].empty());
  }
};

/// Memory of one device for a route and a type of rows.
template <class Piece>
struct Side {
  std::vector<Piece> received;  ///< by sender
  Words words, state = Words(kStateWords);
  std::vector<Peer> peers;
  std::vector<std::int64_t> rows;
  std::int32_t fault = 0;
};

template <class Piece>
struct Channel {
  Channel(const Route& of, std::int64_t columns) : route(of), width(columns), sides(of.devices()) {
    const std::size_t devices = route.devices();
    for (std::size_t b = 0; b < devices; ++b) {
      std::size_t count = 0;
      for (std::size_t a = 0; a < devices; ++a) count += route.sends[a][b].size();
      sides[b].received.resize(count * static_cast<std::size_t>(width));
      sides[b].words.resize(devices);
    }
    for (std::size_t a = 0; a < devices; ++a)
      for (std::size_t b = 0; b < devices; ++b) {
        const auto& sent = route.sends[a][b];
        const auto first = static_cast<std::int64_t>(sides[a].rows.size());
        sides[a].rows.insert(sides[a].rows.end(), sent.begin(), sent.end());
        if (!route.are_peers(a, b)) continue;
        std::size_t place = 0;
        for (std::size_t other = 0; other < a; ++other) place += route.sends[other][b].size();
        sides[a].peers.push_back({sides[b].received.data() + place * static_cast<std::size_t>(width),
                                  &sides[b].words[a], &sides[a].words[b], first,
                                  first + static_cast<std::int64_t>(sent.size())});
      }
  }

  /// Runs one exchange of a device, whose source has rows `stride` apart.
  void run(std::size_t device, const std::vector<Piece>& source, std::int64_t stride, int blocks,
           std::uint64_t timeout_ns, bool stop = false) {
    Side<Piece>& side = sides[device];
    const auto size = std::int64_t{sizeof(Piece)};
    const RowExchange e{.peers = side.peers.data(),
                        .rows = side.rows.data(),
                        .source = source.data(),
                        .state = side.state.data(),
                        .fault = &side.fault,
                        .row_bytes = width * size,
                        .stride_bytes = stride * size,
                        .timeout_ns = timeout_ns,
                        .row_count = static_cast<std::int64_t>(side.rows.size()),
                        .peer_count = static_cast<std::int32_t>(side.peers.size()),
                        .stop = stop};
    std::vector<std::thread> running;
    for (int block = 0; block < blocks; ++block)
      running.emplace_back([=] { exchange_block<Piece>(e, 1, ThreadSystem{block, blocks}); });
    for (std::thread& one : running) one.join();
  }

  const Route& route;
  std::int64_t width;
  std::vector<Side<Piece>> sides;
};

constexpr std::uint64_t kLong = 60'000'000'000, kShort = 50'000'000;

/// Runs `work` for each device at the same time.
void on_all(std::size_t devices, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> running;
  for (std::size_t device = 0; device < devices; ++device) running.emplace_back(work, device);
  for (std::thread& one : running) one.join();
}

/// The number in column c of row `row` of a device in a step.
template <class Piece>
Piece number(std::size_t device, int step, std::int64_t row, std::int64_t c) {
  return static_cast<Piece>(1000003 * (device + 1) + 101 * static_cast<std::size_t>(step) +
                            static_cast<std::size_t>(17 * row + c));
}

Route random_route(std::size_t devices, std::int64_t rows, std::uint64_t seed) {
  RandomStream random(seed);
  Route route{std::vector(devices, std::vector<std::vector<std::int64_t>>(devices))};
  for (std::size_t a = 0; a < devices; ++a)
    for (std::size_t b = 0; b < devices; ++b)
      if (a != b && random.next() % 3 != 0)
        for (std::int64_t row = 0; row < rows; ++row)
          if (random.next() % 2 == 0) route.sends[a][b].push_back(row);
  return route;
}

template <class Piece>
bool are_of_step(const Channel<Piece>& channel, std::size_t device, int step) {
  std::size_t at = 0;
  for (std::size_t a = 0; a < channel.route.devices(); ++a)
    for (const std::int64_t row : channel.route.sends[a][device])
      for (std::int64_t c = 0; c < channel.width; ++c)
        if (channel.sides[device].received[at++] != number<Piece>(a, step, row, c)) return false;
  return true;
}

void wait_a_little(RandomStream& random) {
  if (random.next() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.next() % 300));
}

/// Exchanges in many steps over two channels, whose devices are never synchronized in another way.
template <class Piece>
void check_steps(const Route& route, int blocks, std::uint64_t seed) {
  constexpr std::int64_t kRows = 13, kWide = 5, kNarrow = 1, kStride = 7;
  Channel<Piece> wide(route, kWide), narrow(route, kNarrow);
  std::atomic<int> wrong = 0;
  on_all(route.devices(), [&](std::size_t device) {
    RandomStream random(seed + device);
    std::vector<Piece> source(kRows * kStride);
    for (int step = 0; step < 30; ++step) {
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t c = 0; c < kWide; ++c)
          source[static_cast<std::size_t>(row * kStride + c)] = number<Piece>(device, step, row, c);
      Channel<Piece>& channel = step % 3 == 0 ? narrow : wide;
      wait_a_little(random);
      channel.run(device, source, kStride, blocks, kLong);
      wait_a_little(random);  // the rows must stay while this device is slow
      if (!are_of_step(channel, device, step)) ++wrong;
    }
  });
  CHECK(wrong == 0);
  for (const Channel<Piece>* channel : {&wide, &narrow})
    for (const Side<Piece>& side : channel->sides) {
      CHECK(side.fault == 0);
      CHECK(side.state[kTickets] == 0);
      CHECK(side.state[kFailed] == 0);
    }
}

}  // namespace

TEST_CASE("exchange of rows: each step delivers its rows, and none before they may be overwritten") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Route route = random_route(2 + seed % 3, 13, seed);
    check_steps<std::uint32_t>(route, 1 + static_cast<int>(seed % 3), seed);
    check_steps<std::uint16_t>(route, 2, seed);
  }
}

TEST_CASE("exchange of rows: devices that send in one direction only do not overtake each other") {
  Route route{{{{}, {0, 3, 12}}, {{}, {}}}};
  check_steps<std::uint64_t>(route, 2, 7);
}

TEST_CASE("exchange of rows: without a list, row i is sent in place i") {
  Route route{{{{}, {0, 1, 2}}, {{}, {}}}};
  Channel<std::uint32_t> channel(route, 2);
  channel.sides[0].rows.clear();
  on_all(2, [&](std::size_t device) {
    std::vector<std::uint32_t> source = {1, 2, 3, 4, 5, 6};
    RowExchange e{.peers = channel.sides[device].peers.data(),
                  .source = source.data(),
                  .state = channel.sides[device].state.data(),
                  .fault = &channel.sides[device].fault,
                  .row_bytes = 8,
                  .stride_bytes = 8,
                  .timeout_ns = kLong,
                  .peer_count = 1};
    exchange_block<std::uint32_t>(e, 1, ThreadSystem{0, 1});
  });
  CHECK(channel.sides[1].received == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("exchange of rows: a device that stops ends the exchanges of the others at once") {
  Route route = random_route(3, 13, 11);
  route.all = true;
  Channel<std::uint32_t> channel(route, 4);
  const auto begin = std::chrono::steady_clock::now();
  on_all(3, [&](std::size_t device) {
    std::vector<std::uint32_t> source(13 * 4);
    for (int step = 0; step < 4; ++step) channel.run(device, source, 4, 2, kLong, device == 1 && step > 0);
  });
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(channel.sides[0].fault < 0);  // device 1 has stopped, or device 2, which has failed
  CHECK(channel.sides[2].fault < 0);
  CHECK(channel.sides[1].fault == 0);
  for (const auto& side : channel.sides) CHECK(side.state[kFailed] == 1);
}

TEST_CASE("exchange of rows: a silent device is a fault after the time-out, and later of its own") {
  Route route = random_route(3, 13, 12);
  route.all = true;
  Channel<std::uint32_t> channel(route, 4);
  on_all(3, [&](std::size_t device) {
    std::vector<std::uint32_t> source(13 * 4);
    channel.run(device, source, 4, 2, kLong);
    if (device == 2) return;
    channel.run(device, source, 4, 2, kShort);
  });
  // Device 2 is peer 1 of both. One of them may have heard that the other has failed.
  CHECK((channel.sides[0].fault == 2 || channel.sides[1].fault == 2));
  CHECK((channel.sides[0].fault != 0 && channel.sides[1].fault != 0));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::uint32_t> source(13 * 4);
  channel.run(2, source, 4, 2, kLong);  // too late
  CHECK(channel.sides[2].fault < 0);
  channel.run(0, source, 4, 2, kLong);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("exchange of rows: the host ends the wait for a silent device") {
  Route route{{{{}, {0}}, {{0}, {}}}};
  Channel<std::uint32_t> channel(route, 1);
  const auto begin = std::chrono::steady_clock::now();
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::atomic_ref(channel.sides[0].fault).store(7);
  });
  channel.run(0, std::vector<std::uint32_t>(1), 1, 2, kLong);
  host.join();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(channel.sides[0].fault == 1);  // it names the silent device
  CHECK(channel.sides[1].words[0] == kStopped);
}
