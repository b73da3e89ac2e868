// Detection of test cases that check nothing: a loop over an empty table passes, too.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

namespace sptile {

/// Counts the cases that ended without a check, and prints their names to stderr, except skipped ones.
struct VacuousCases : doctest::IReporter {
  static inline int count = 0;
  static inline bool excused = false;  ///< the running case was skipped

  explicit VacuousCases(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& test) override {
    name_ = test.m_name;
    excused = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.numAssertsCurrentTest > 0 || excused) return;
    ++count;
    std::fprintf(stderr, "NOTHING CHECKED: %s\n", name_);
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const char* name_ = "";
};

}  // namespace sptile
