#include "tests/runtime/cuda/emulated_device.hpp"

#include <exception>

namespace sptile::test {
namespace {

std::exception_ptr failure;  ///< what a lane has thrown

}  // namespace

EmulatedWarp::EmulatedWarp() {
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes_.emplace_back(run_lane);
}

void EmulatedWarp::begin(unsigned first_thread, const std::function<void()>& body) {
  body_ = &body;
  first_thread_ = first_thread;
  done_.fill(false);
  published_.fill(0);
  factors_.round = 0;
}

std::size_t EmulatedWarp::next_lane(std::size_t from) const {
  while (from < kLanes && done_[from]) ++from;
  return from;
}

std::vector<unsigned> EmulatedWarp::threads() const {
  std::vector<unsigned> running;
  for (std::size_t lane = next_lane(0); lane < kLanes; lane = next_lane(lane + 1))
    running.push_back(first_thread_ + static_cast<unsigned>(lane));
  return running;
}

/// Makes a lane the running one; gives its fiber.
Fiber& EmulatedWarp::enter(std::size_t lane) {
  lane_ = lane;
  thread_index = dim3(first_thread_ + static_cast<unsigned>(lane));
  return lanes_[lane];
}

bool EmulatedWarp::step() {
  const std::size_t first = next_lane(0);
  if (first == kLanes) return false;
  current_ = this;
  scheduler_.switch_to(enter(first));
  return true;
}

void EmulatedWarp::yield() {
  Fiber& mine = lanes_[lane_];
  const std::size_t next = next_lane(lane_ + 1);
  mine.switch_to(next == kLanes ? scheduler_ : enter(next));
}

const EmulatedWarp::Operands& EmulatedWarp::exchange(const Operand& mine) {
  const std::size_t me = lane_;
  Operands& all = operands_[published_[me] % 2];
  all[me] = mine;
  const unsigned round = ++published_[me];
  yield();
  for (const unsigned other : published_)
    if (other != round && other != round + 1) diverged = true;
  return all;
}

/// A fiber's whole life: body after body.
void EmulatedWarp::run_lane() {
  while (true) {
    EmulatedWarp& warp = current();
    try {
      (*warp.body_)();
    } catch (...) {
      failure = std::current_exception();
    }
    warp.done_[warp.lane_] = true;
    warp.yield();
  }
}

void launch(dim3 blocks, unsigned threads, const std::function<void()>& kernel,
            const std::function<void()>& before_block) {
  static std::vector<std::unique_ptr<EmulatedWarp>> warps;  // their stacks are used again
  const std::size_t count = threads / EmulatedWarp::kLanes;
  while (warps.size() < count) warps.push_back(std::make_unique<EmulatedWarp>());
  block_size = dim3(threads);
  grid_size = blocks;
  memory_order.begin_launch();
  for (unsigned b = 0; b < blocks.x * blocks.y * blocks.z; ++b) {
    block_index = dim3(b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y);
    if (before_block) before_block();
    for (std::size_t w = 0; w < count; ++w)
      warps[w]->begin(static_cast<unsigned>(w * EmulatedWarp::kLanes), kernel);
    for (bool running = true; running;) {
      running = false;
      for (std::size_t w = 0; w < count; ++w) running = warps[w]->step() || running;
      if (!failure) continue;
      warps.clear();  // the other lanes stand somewhere in the kernel
      std::rethrow_exception(std::exchange(failure, nullptr));
    }
  }
}

const EmulatedWarp::Operand& shuffled(const EmulatedWarp::Operand& mine, int from, int width) {
  EmulatedWarp& warp = EmulatedWarp::current();
  const int first = warp.lane() / width * width;
  return warp.exchange(mine)[static_cast<std::size_t>(first + (from & (width - 1)))];
}

}  // namespace sptile::test

std::uint32_t __byte_perm(std::uint32_t x, std::uint32_t y, std::uint32_t select) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<std::uint32_t>(bytes >> 8 * (select >> 4 * i & 7u) & 0xffu) << 8 * i;
  return result;
}

int __reduce_max_sync(unsigned, int x) {
  for (const auto& other : sptile::test::EmulatedWarp::current().exchange(sptile::test::as_operand(x)))
    x = max(x, sptile::test::from_operand<int>(other));
  return x;
}

unsigned __ballot_sync(unsigned, bool x) {
  unsigned lanes = 0, bit = 1;
  for (const auto& other :
       sptile::test::EmulatedWarp::current().exchange(sptile::test::as_operand(x ? 1 : 0))) {
    if (sptile::test::from_operand<int>(other) != 0) lanes |= bit;
    bit <<= 1;
  }
  return lanes;
}

namespace sptile::runtime::cuda {
namespace {

void multiply(const test::EmulatedFactors& f, float (&acc)[4], int lane) {
  const int g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    double sum = acc[i];
    for (int k = 0; k < 8; ++k) sum += f.a[g + 8 * (i / 2)][k] * f.b[k][2 * t + i % 2];
    acc[i] = static_cast<float>(sum);
  }
}

template <class T>
void emulate_mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b) {
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange({a0, a1, b});
  const auto number = [](std::uint32_t word, int i) {
    return double{to_float(T{static_cast<std::uint16_t>(word >> 16 * i)})};
  };
  test::EmulatedFactors& f = warp.factors();
  if (warp.comes_first())
    for (int lane = 0; lane < 32; ++lane) {
      const auto& x = all[static_cast<std::size_t>(lane)];
      const int g = lane / 4, t = lane % 4;
      for (int i = 0; i < 2; ++i) {
        f.a[g][2 * t + i] = number(x[0], i);
        f.a[g + 8][2 * t + i] = number(x[1], i);
        f.b[2 * t + i][g] = number(x[2], i);
      }
    }
  multiply(f, acc, warp.lane());
}

}  // namespace

std::uint32_t to_tf32(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isfinite(x)) bits += 0x0fffu + (bits >> 13 & 1u);
  return bits & 0xffffe000u;
}

void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange({a[0], a[1], a[2], a[3], b[0], b[1]});
  const auto number = [](std::uint32_t bits) { return double{std::bit_cast<float>(bits & 0xffffe000u)}; };
  test::EmulatedFactors& f = warp.factors();
  if (warp.comes_first())
    for (int lane = 0; lane < 32; ++lane) {
      const auto& x = all[static_cast<std::size_t>(lane)];
      const int g = lane / 4, t = lane % 4;
      for (int i = 0; i < 4; ++i)
        f.a[g + 8 * (i % 2)][t + 4 * (i / 2)] = number(x[static_cast<std::size_t>(i)]);
      for (int i = 0; i < 2; ++i) f.b[t + 4 * i][g] = number(x[static_cast<std::size_t>(4 + i)]);
    }
  multiply(f, acc, warp.lane());
}

void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, Half) {
  emulate_mma_half<Half>(acc, a0, a1, b);
}
void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, BFloat16) {
  emulate_mma_half<BFloat16>(acc, a0, a1, b);
}
void mma_half_k16(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  emulate_mma_half<Half>(acc, a[0], a[1], b[0]);
  emulate_mma_half<Half>(acc, a[2], a[3], b[1]);
}

void mma_f64(double (&acc)[2], double a, double b) {
  struct Both {
    double a, b;
  };
  auto& warp = test::EmulatedWarp::current();
  const auto& all = warp.exchange(test::as_operand(Both{a, b}));
  const int g = warp.lane() / 4, t = warp.lane() % 4;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k)
      acc[i] += test::from_operand<Both>(all[static_cast<std::size_t>(4 * g + k)]).a *
                test::from_operand<Both>(all[static_cast<std::size_t>(4 * (2 * t + i) + k)]).b;
}

}  // namespace sptile::runtime::cuda
