// Arguments of an exchange of rows, which are checked before a device is used.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "sptile.h"

namespace {

/// A valid exchange; its addresses are never read.
struct Given {
  sptile_peer peer = {};
  std::int64_t row = 0;
  std::uint64_t state[4] = {};
  std::int32_t fault = 0;
  float source[4] = {};
  sptile_row_exchange exchange = SPTILE_ROW_EXCHANGE_INIT;

  Given() {
    exchange.peers = &peer;
    exchange.rows = &row;
    exchange.source = source;
    exchange.state = state;
    exchange.fault = &fault;
    exchange.row_count = 1;
    exchange.row_bytes = exchange.stride_bytes = 16;
    exchange.peer_count = 1;
  }
};

/// Returns the message of the error with which an exchange is refused.
std::string refusal(void (*change)(sptile_row_exchange&)) {
  Given given;
  change(given.exchange);
  CHECK(sptile_exchange_rows(&given.exchange, nullptr) == SPTILE_STATUS_USAGE);
  return sptile_last_error();
}

}  // namespace

TEST_CASE("exchange of rows: invalid arguments are refused with the field and a remedy") {
  using Exchange = sptile_row_exchange;
  CHECK(sptile_exchange_rows(nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(refusal([](Exchange& e) { e.size = 8; }).find("exchange.size = 8") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.peer_count = -1; }).find("exchange.peer_count = -1; pass") !=
        std::string::npos);
  CHECK(refusal([](Exchange& e) { e.row_count = -1; }).find("exchange.row_count = -1") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.row_bytes = 0; }).find("exchange.row_bytes = 0") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.row_bytes = 3; }).find("a positive multiple of 2") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.stride_bytes = 14; }).find("exchange.stride_bytes = 14") !=
        std::string::npos);
  CHECK(refusal([](Exchange& e) { e.blocks = -2; }).find("exchange.blocks = -2") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.ordinal = -1; }).find("exchange.ordinal = -1") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.source = nullptr; }).find("exchange.source is NULL") !=
        std::string::npos);
  CHECK(refusal([](Exchange& e) { e.peers = nullptr; }).find("exchange.peers is NULL") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.state = nullptr; }).find("exchange.state is NULL") != std::string::npos);
  CHECK(refusal([](Exchange& e) { e.fault = nullptr; }).find("exchange.fault is NULL") != std::string::npos);
}

TEST_CASE("exchange of rows: without a device, a valid call is an error") {
  Given given;
  given.exchange.ordinal = 1000;
  const sptile_status status = sptile_exchange_rows(&given.exchange, nullptr);
  CHECK((status == SPTILE_STATUS_UNSUPPORTED || status == SPTILE_STATUS_DEVICE));
  CHECK(std::string(sptile_last_error()) != "");
}

TEST_CASE("distributed run: missing arguments are refused by name") {
  Given given;
  sptile_distributed_run run = SPTILE_DISTRIBUTED_RUN_INIT;
  const auto refusal = [&] {
    CHECK(sptile_run_distributed(&run, nullptr) == SPTILE_STATUS_USAGE);
    return std::string(sptile_last_error());
  };
  CHECK(sptile_run_distributed(nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(refusal().find("run.exchange is NULL") != std::string::npos);
  run.exchange = &given.exchange;
  CHECK(refusal().find("run.local is NULL") != std::string::npos);
  // Plans are opaque, and are not used before all arguments are checked.
  run.local = run.boundary = reinterpret_cast<const sptile_plan*>(&given);
  CHECK(refusal().find("run.local_operands is NULL") != std::string::npos);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  run.local_operands = &operands;
  CHECK(refusal().find("run.boundary_operands is NULL") != std::string::npos);
  run.boundary_operands = &operands;
  CHECK(refusal().find("run.event is NULL") != std::string::npos);
  run.event = &given;
  given.exchange.size = 8;
  CHECK(refusal().find("exchange.size = 8") != std::string::npos);
  given.exchange.size = sizeof given.exchange;
  run.size = 8;
  CHECK(refusal().find("run.size = 8") != std::string::npos);
}

TEST_CASE("distributed run: without a device, a valid call is an error") {
  Given given;
  given.exchange.ordinal = 1000;
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  sptile_distributed_run run = SPTILE_DISTRIBUTED_RUN_INIT;
  run.exchange = &given.exchange;
  run.local = reinterpret_cast<const sptile_plan*>(&given);
  run.local_operands = &operands;
  run.event = &given;
  const sptile_status status = sptile_run_distributed(&run, nullptr);
  CHECK((status == SPTILE_STATUS_UNSUPPORTED || status == SPTILE_STATUS_DEVICE));
}
