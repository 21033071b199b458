#include "checkers/verify/certificate.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "harness/rng.h"

namespace holdfast::verify {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Certificate example() {
  Certificate certificate{.key = "orders"};
  certificate.promise = {.kind = objects::Kind::lease_mutex,
                         .initial = -7,
                         .identity = objects::Identity::hold,
                         .reentrancy = 2,
                         .permits = 3,
                         .lease_least = 1'000'000'000,
                         .lease_greatest = 3'000'000'000,
                         .fence = objects::FenceRule::by_one};
  certificate.decision = {.answer = objects::Answer::violation,
                          .witness = {4, 0, 4'294'967'294U, 2},
                          .instants = {objects::kNever, 5, objects::kNothing, -3},
                          .core = {3, 8},
                          .rule = "overlapping-holds",
                          .because = "{0} certainly holds \"orders\" when {1} is granted – too early",
                          .from = -12,
                          .to = 1900,
                          .proven_until = 12,
                          .searched = 99};
  return certificate;
}

void expect_same(const Certificate& one, const Certificate& other) {
  EXPECT_EQ(one.key, other.key);
  EXPECT_EQ(one.witness_file, other.witness_file);
  EXPECT_EQ(one.promise.kind, other.promise.kind);
  EXPECT_EQ(one.promise.initial, other.promise.initial);
  EXPECT_EQ(one.promise.identity, other.promise.identity);
  EXPECT_EQ(one.promise.reentrancy, other.promise.reentrancy);
  EXPECT_EQ(one.promise.permits, other.promise.permits);
  EXPECT_EQ(one.promise.lease_least, other.promise.lease_least);
  EXPECT_EQ(one.promise.lease_greatest, other.promise.lease_greatest);
  EXPECT_EQ(one.promise.fence, other.promise.fence);
  EXPECT_EQ(one.decision.answer, other.decision.answer);
  EXPECT_EQ(one.decision.witness, other.decision.witness);
  EXPECT_EQ(one.decision.instants, other.decision.instants);
  EXPECT_EQ(one.decision.core, other.decision.core);
  EXPECT_EQ(one.decision.rule, other.decision.rule);
  EXPECT_EQ(one.decision.because, other.decision.because);
  EXPECT_EQ(one.decision.from, other.decision.from);
  EXPECT_EQ(one.decision.to, other.decision.to);
  EXPECT_EQ(one.decision.proven_until, other.decision.proven_until);
  EXPECT_EQ(one.decision.searched, other.decision.searched);
}

TEST(Certificate, ComesBackAsItWas) {
  expect_same(read_certificate(write_certificate(example())), example());
  expect_same(read_certificate(write_certificate({})), {});
}

TEST(Certificate, EveryKindComesBack) {
  for (auto kind = objects::Kind::register_; kind <= objects::Kind::fair_mutex;
       kind = static_cast<objects::Kind>(static_cast<std::uint8_t>(kind) + 1)) {
    EXPECT_EQ(read_certificate(write_certificate({.promise = {.kind = kind}})).promise.kind, kind);
  }
}

TEST(Certificate, AWitnessOfAMillionTakesFewBytes) {
  Certificate certificate;
  Rng rng(3);
  for (std::uint32_t i = 0; i < 1'000'000; ++i) certificate.decision.witness.push_back(i);
  for (std::size_t i = 0; i + 50 < 1'000'000; ++i) {
    std::swap(certificate.decision.witness[i], certificate.decision.witness[i + rng.below(50)]);
  }
  const std::string text = write_certificate(certificate);
  EXPECT_LT(text.size(), 5'000'000U);
  EXPECT_EQ(read_certificate(text).decision.witness, certificate.decision.witness);
}

TEST(Certificate, AWitnessMayStandInAFileOfItsOwn) {
  Certificate certificate = example();
  certificate.witness_file = "witness-1";
  const Certificate read = read_certificate(write_certificate(certificate));
  EXPECT_EQ(read.witness_file, "witness-1");
  EXPECT_TRUE(read.decision.witness.empty());
  EXPECT_EQ(read_witness(write_witness(certificate.decision.witness)), certificate.decision.witness);
  EXPECT_TRUE(read_witness(" \n").empty());
  EXPECT_THAT([] { return read_witness("1 2 x3"); }, ThrowsMessage<std::invalid_argument>(HasSubstr("\"x3\"")));
  EXPECT_THAT([] { return read_witness("1 -2"); }, ThrowsMessage<std::invalid_argument>(HasSubstr("-1")));
}

struct Refusal {
  std::string from;  // of the example
  std::string to;
  std::string complaint;
};

TEST(Certificate, WhatIsWrongIsNamed) {
  const std::vector<Refusal> refusals = {
      {"\"version\":1", "\"version\":2", "\"version\" is 2"},
      {"\"answer\":\"violation\"", "\"answer\":\"maybe\"", "\"answer\" is \"maybe\""},
      {"\"answer\":\"violation\",", "", "\"answer\" is missing"},
      {"\"kind\":\"lease mutex\"", "\"kind\":\"latch\"", "\"kind\" is \"latch\""},
      {"\"identity\":\"hold\"", "\"identity\":3", "\"identity\" is 3"},
      {"\"fence\":\"by-one\"", "\"fence\":\"by-two\"", "\"fence\" is \"by-two\""},
      {"\"permits\":3", "\"permits\":-3", "\"permits\" is -3"},
      {"\"permits\":3", "\"permits\":4294967296", "\"permits\" is 4294967296"},
      {"\"lease_least\":1000000000", "\"lease_least\":1.5", "\"lease_least\" is 1.5"},
      {"\"core\":[3,8]", "\"core\":[3,-8]", "\"core\" is -8"},
      {"\"core\":[3,8]", "\"core\":{}", "\"core\" is {}"},
      {"\"core\":[3,8]", "\"core\":[3,18446744073709551615]", "\"core\" is 18446744073709551615"},
      {"\"witness\":[4,", "\"witness\":[-4,", "\"witness\" is -4"},
      {"\"rule\":\"overlapping-holds\"", "\"rule\":[]", "\"rule\" is []"},
      {"\"from\":-12", "\"from\":2000", "\"from\" is 2000"},
      {"\"key\":", "\"kee\":", "\"kee\" is \"orders\""},
      {"\"permits\":3", "\"permitz\":3", "\"permitz\" is 3"},
      {"\"searched\":99", "\"searched\":-1", "\"searched\" is -1"},
      {"{", "", "no JSON"},
  };
  const std::string good = write_certificate(example());
  for (const Refusal& refusal : refusals) {
    std::string text = good;
    const std::size_t at = text.find(refusal.from);
    ASSERT_NE(at, std::string::npos) << refusal.from;
    text.replace(at, refusal.from.size(), refusal.to);
    EXPECT_THAT([&] { return read_certificate(text); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(refusal.complaint)));
  }
}

TEST(Certificate, MutatedTextIsReadOrRefusedButNeverMore) {
  const std::string good = write_certificate(example());
  const std::string alphabet = "{}[]\",:-+.eE0123456789nulltruefalse\\u \x01\xff";
  Rng rng(17);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string text = good;
    for (std::uint64_t changes = 1 + rng.below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = rng.below(text.size());
      const char character = alphabet[rng.below(alphabet.size())];
      switch (rng.below(4)) {
        case 0:
          text[at] = character;
          break;
        case 1:
          text.insert(at, 1, character);
          break;
        case 2:
          text.erase(at, 1 + rng.below(8));
          break;
        default:
          text.insert(at, good.substr(rng.below(good.size()), rng.below(20)));
      }
    }
    try {
      const Certificate certificate = read_certificate(text);
      expect_same(read_certificate(write_certificate(certificate)), certificate);
      ++read;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("certificate: "));
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace holdfast::verify
