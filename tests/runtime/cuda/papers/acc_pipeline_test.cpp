// Order of the steps of Acc-SpMM's and DTC-SpMM's pipelines, traced with the functions that the kernels run.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#include "runtime/cuda/papers/acc/pipelines.cuh"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace sptile::runtime::cuda;

namespace {

using Steps = std::vector<std::string>;

/// Records the steps. "B0 3": rows of B of tile 3 to buffer 0; "MMA1 4": tile 4 with the rows in buffer 1.
struct Trace {
  Steps steps;

  void load_a(std::int32_t tile) { add("A", tile); }
  void load_ids(std::int32_t tile, bool there) {
    if (there) add("ids", tile);
  }
  void await_copies() { steps.emplace_back("wait"); }
  template <int kBuffer>
  void load_b(std::int32_t tile) {
    add("B" + std::to_string(kBuffer), tile);
  }
  template <int kBuffer>
  void multiply(std::int32_t tile) {
    add("MMA" + std::to_string(kBuffer), tile);
  }

 private:
  void add(const std::string& step, std::int32_t tile) { steps.push_back(step + " " + std::to_string(tile)); }
};

template <class Pipeline>
Steps traced(std::int32_t begin, std::int32_t end) {
  Trace trace;
  Pipeline::run(trace, begin, end);
  return trace.steps;
}

/// Verifies that operands are complete when they are read, and that no thread can still read what a copy
/// overwrites. Copies and their readers are separated by a wait.
class Hazards {
 public:
  void load_a(std::int32_t tile) {
    CHECK(a_.emplace(tile, waits_).second);
    // The previous tile in this buffer is multiplied, and all threads have waited since.
    if (multiplied_.contains(tile - 2)) CHECK(multiplied_[tile - 2] < waits_);
    CHECK((tile < begin_ + 2 || multiplied_.contains(tile - 2)));
  }
  void load_ids(std::int32_t tile, bool there) {
    if (!there) return;
    CHECK(ids_.emplace(tile, waits_).second);
    if (tile < begin_ + 2) return;
    REQUIRE(b_.contains(tile - 2));
    CHECK(b_[tile - 2] < waits_);
  }
  void await_copies() { ++waits_; }
  template <int kBuffer>
  void load_b(std::int32_t tile) {
    REQUIRE(ids_.contains(tile));
    CHECK(ids_[tile] < waits_);
    CHECK(b_.emplace(tile, waits_).second);
    CHECK(buffer_.emplace(kBuffer, tile).second);  // its previous rows have been multiplied
  }
  template <int kBuffer>
  void multiply(std::int32_t tile) {
    REQUIRE(a_.contains(tile));
    CHECK(a_[tile] < waits_);
    REQUIRE(buffer_.contains(kBuffer));
    CHECK(buffer_[kBuffer] == tile);
    buffer_.erase(kBuffer);
    CHECK(tile == begin_ + static_cast<std::int32_t>(multiplied_.size()));
    multiplied_.emplace(tile, waits_);
  }

  explicit Hazards(std::int32_t begin) : begin_(begin) {}
  [[nodiscard]] std::int32_t tiles() const { return static_cast<std::int32_t>(multiplied_.size()); }

 private:
  std::int32_t begin_;
  int waits_ = 0;
  std::map<std::int32_t, int> a_, ids_, b_, multiplied_;  ///< the number of waits before the step, by tile
  std::map<int, std::int32_t> buffer_;                    ///< tile whose rows of B it has
};

template <class Pipeline>
void check_hazards() {
  for (std::int32_t begin = 4; begin < 6; ++begin)
    for (std::int32_t tiles = 1; tiles < 9; ++tiles) {
      Hazards block(begin);
      Pipeline::run(block, begin, begin + tiles);
      CHECK(block.tiles() == tiles);
    }
}

}  // namespace

TEST_CASE("acc pipeline: warm-up, stable phase and frozen phase load and multiply as in algorithm 2") {
  CHECK(traced<LeastBubblePipeline>(0, 4) ==
        Steps{// Warm-up: A and SparseAToB, then the rows of B together with the next SparseAToB.
              "A 0", "ids 0", "wait", "ids 1", "B0 0",
              // Stable phase: B, A and SparseAToB of later tiles, then the product.
              "wait", "B1 1", "A 1", "ids 2", "MMA0 0",  //
              "wait", "B0 2", "A 2", "ids 3", "MMA1 1",  //
              "wait", "B1 3", "A 3", "MMA0 2",
              // Frozen phase: the last product.
              "wait", "MMA1 3"});
  CHECK(traced<LeastBubblePipeline>(7, 8) == Steps{"A 7", "ids 7", "wait", "B0 7", "wait", "MMA0 7"});
}

TEST_CASE("dtc pipeline: rows of B are requested just before their product, as in figure 5a") {
  CHECK(traced<DtcPipeline>(0, 3) == Steps{"A 0", "ids 0",                            //
                                           "wait", "A 1", "ids 1", "B0 0", "MMA0 0",  //
                                           "wait", "A 2", "ids 2", "B0 1", "MMA0 1",  //
                                           "wait", "B0 2", "MMA0 2"});
}

TEST_CASE("acc pipeline: B of the next tile is in flight at every product but the last") {
  const Steps steps = traced<LeastBubblePipeline>(0, 9);
  const auto at = [&](const std::string& step) { return std::find(steps.begin(), steps.end(), step); };
  for (int tile = 0; tile + 1 < 9; ++tile) {
    const std::string buffer = std::to_string(tile % 2), other = std::to_string(1 - tile % 2);
    const auto product = at("MMA" + buffer + " " + std::to_string(tile));
    REQUIRE(product != steps.end());
    CHECK(at("B" + other + " " + std::to_string(tile + 1)) < product);
  }
}

TEST_CASE("acc and dtc pipelines: no operand is read before it arrives or overwritten before it is read") {
  check_hazards<LeastBubblePipeline>();
  check_hazards<DtcPipeline>();
}
