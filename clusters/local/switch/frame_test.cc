// Frames are put together by hand here, with checksums reckoned in the plainest way, so that the switch's own
// arithmetic is compared with something.
#include "clusters/local/switch/frame.h"

#include <gtest/gtest.h>

#include <numeric>

namespace holdfast {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint32_t word(const Bytes& bytes, std::size_t at) {
  return (static_cast<std::uint32_t>(bytes.at(at)) << 8U) | bytes.at(at + 1);
}

// Of the whole TCP or UDP part with its pseudo header: 0xFFFF when the checksum in it is right.
std::uint32_t transport_sum(const Bytes& frame, bool v6, std::uint8_t protocol) {
  const std::size_t addresses = v6 ? 22 : 26;
  const std::size_t header = v6 ? 54 : 34;
  Bytes covered(frame.begin() + static_cast<long>(addresses), frame.begin() + static_cast<long>(header));
  const std::size_t size = frame.size() - header;
  covered.insert(covered.end(), {0, protocol, static_cast<std::uint8_t>(size >> 8U), static_cast<std::uint8_t>(size)});
  covered.insert(covered.end(), frame.begin() + static_cast<long>(header), frame.end());
  if (covered.size() % 2 != 0) covered.push_back(0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < covered.size(); i += 2) sum += word(covered, i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return sum;
}

void append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Bytes make_frame(bool v6, std::uint8_t protocol, std::uint8_t flags, std::size_t payload) {
  const std::size_t header_size = protocol == 6 ? 24 : 8;  // TCP with one option
  const auto size = static_cast<std::uint8_t>(header_size + payload);
  Bytes frame = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  if (v6) {
    append(frame, {0x86, 0xDD, 0x60, 0, 0, 0, 0, size, protocol, 64});
    for (const std::uint8_t host : {std::uint8_t{1}, std::uint8_t{2}}) {
      append(frame, {0xFD, 0x99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host});
    }
  } else {
    append(frame, {0x08, 0, 0x45, 0, 0, static_cast<std::uint8_t>(20 + size), 0, 1, 0x40, 0, 64, protocol, 0, 0});
    append(frame, {10, 99, 0, 1, 10, 99, 0, 2});
  }
  const std::size_t header = frame.size();
  if (protocol == 6) {
    append(frame, {0x12, 0x34, 0x18, 0xEB, 0, 0, 0, 100, 0, 0, 0, 200, 0x60, flags, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  } else {
    append(frame, {0x12, 0x34, 0x18, 0xEB, 0, size, 0, 0});
  }
  for (std::size_t i = 0; i < payload; ++i) frame.push_back(static_cast<std::uint8_t>(7 * i + 3));
  const std::uint32_t sum = 0xFFFFU - transport_sum(frame, v6, protocol);
  const std::size_t at = header + (protocol == 6 ? 16 : 6);
  frame[at] = static_cast<std::uint8_t>(sum >> 8U);
  frame[at + 1] = static_cast<std::uint8_t>(sum);
  return frame;
}

class FrameTest : public testing::TestWithParam<std::tuple<bool, std::uint8_t>> {
 protected:
  bool v6 = std::get<0>(GetParam());
  std::uint8_t protocol = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Kinds, FrameTest, testing::Combine(testing::Bool(), testing::Values(6, 17)));

TEST_P(FrameTest, FindsItsParts) {
  const Bytes frame = make_frame(v6, protocol, 0x18, 11);
  const auto transport = transport_of(frame);
  ASSERT_TRUE(transport.has_value());
  EXPECT_EQ(transport->v6, v6);
  EXPECT_EQ(transport->tcp, protocol == 6);
  EXPECT_EQ(transport->end, frame.size());
  EXPECT_EQ(transport->end - transport->payload, 11U);
  EXPECT_EQ(destination_of(frame), (Mac{2, 0, 0, 0, 0, 2}));
}

TEST_P(FrameTest, CutShortAnywhereItIsNoSegment) {
  const Bytes frame = make_frame(v6, protocol, 0x18, 11);
  for (std::size_t size = kEthernetHeader; size < frame.size(); ++size) {
    EXPECT_FALSE(transport_of(FrameBytes(frame).first(size)).has_value()) << size;
  }
}

TEST_P(FrameTest, DetectedCorruptionLeavesTheChecksumWrong) {
  for (std::uint64_t noise = 1; noise < 2000; ++noise) {
    Bytes frame = make_frame(v6, protocol, 0x18, 11);
    ASSERT_EQ(transport_sum(frame, v6, protocol), 0xFFFFU);
    ASSERT_TRUE(corrupt(frame, noise * 0x9E3779B97F4A7C15U, false));
    EXPECT_NE(transport_sum(frame, v6, protocol), 0xFFFFU);
  }
}

TEST_P(FrameTest, UnseenCorruptionChangesThePayloadUnderARightChecksum) {
  const std::size_t payload_at = transport_of(make_frame(v6, protocol, 0x18, 11))->payload;
  for (std::uint64_t noise = 1; noise < 2000; ++noise) {
    const Bytes before = make_frame(v6, protocol, 0x18, 11);
    Bytes frame = before;
    ASSERT_TRUE(corrupt(frame, noise * 0x9E3779B97F4A7C15U, true));
    EXPECT_EQ(transport_sum(frame, v6, protocol), 0xFFFFU);
    EXPECT_FALSE(std::equal(frame.begin() + static_cast<long>(payload_at), frame.end(),
                            before.begin() + static_cast<long>(payload_at)));
  }
  Bytes empty = make_frame(v6, protocol, 0x10, 0);
  EXPECT_FALSE(corrupt(empty, 99, true)) << "there is no payload to change";
}

TEST_P(FrameTest, BothDirectionsAreOneConnection) {
  const Bytes frame = make_frame(v6, 6, 0x18, 11);
  const Bytes back = make_reset(frame, *transport_of(frame), ResetFor::sender);
  EXPECT_EQ(connection_of(frame, *transport_of(frame)), connection_of(back, *transport_of(back)));
  Bytes other = frame;
  ++other[transport_of(frame)->header];
  EXPECT_NE(connection_of(frame, *transport_of(frame)), connection_of(other, *transport_of(other)));
}

TEST_P(FrameTest, ResetsAreRightForBothEnds) {
  const Bytes frame = make_frame(v6, 6, 0x18, 11);
  const auto transport = *transport_of(frame);
  for (const ResetFor whom : {ResetFor::receiver, ResetFor::sender}) {
    const Bytes reset = make_reset(frame, transport, whom);
    const auto found = transport_of(reset);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->payload, found->end);
    EXPECT_TRUE(tcp_flags(reset, *found).rst);
    EXPECT_FALSE(tcp_flags(reset, *found).syn);
    EXPECT_EQ(transport_sum(reset, v6, 6), 0xFFFFU);
    if (!v6) {
      std::uint32_t sum = 0;
      for (std::size_t at = 14; at < 34; at += 2) sum += word(reset, at);
      EXPECT_EQ((sum & 0xFFFFU) + (sum >> 16U), 0xFFFFU);
    }
    const bool back = whom == ResetFor::sender;
    EXPECT_EQ(reset[5], back ? 1 : 2);                                // the MAC it goes to
    EXPECT_EQ(word(reset, found->header), back ? 0x18EBU : 0x1234U);  // from this port
    EXPECT_EQ(word(reset, found->header + 6), back ? 200U : 100U);    // exactly what the other end expects next
  }
}

TEST(Frame, OtherFramesHaveNoTransport) {
  Bytes arp(60, 0);
  arp[12] = 0x08;
  arp[13] = 0x06;
  EXPECT_FALSE(transport_of(arp).has_value());
  EXPECT_FALSE(is_group_membership(arp));
  EXPECT_FALSE(corrupt(arp, 5, false));
  Bytes fragment = make_frame(false, 17, 0, 20);
  fragment[20] = 0x20;
  EXPECT_FALSE(transport_of(fragment).has_value());
}

TEST(Frame, KnowsGroupMembership) {
  Bytes igmp = make_frame(false, 17, 0, 20);
  igmp[23] = 2;
  EXPECT_TRUE(is_group_membership(igmp));
  Bytes mld(90, 0);
  mld[12] = 0x86;
  mld[13] = 0xDD;
  mld[20] = 0;
  mld[54] = 58;
  mld[62] = 143;
  EXPECT_TRUE(is_group_membership(mld));
  mld[62] = 128;
  EXPECT_FALSE(is_group_membership(mld));
}

TEST(Frame, KnowsWhoAsksForRoutersAndNeighbours) {
  Bytes solicitation(70, 0);
  solicitation[12] = 0x86;
  solicitation[13] = 0xDD;
  solicitation[20] = 58;
  solicitation[54] = 133;
  EXPECT_TRUE(is_discovery(solicitation));
  EXPECT_FALSE(is_discovery(FrameBytes(solicitation).first(54)));
  solicitation[54] = 135;
  EXPECT_TRUE(is_discovery(solicitation));
  solicitation[54] = 128;  // an echo is for everybody
  EXPECT_FALSE(is_discovery(solicitation));
}

}  // namespace
}  // namespace holdfast
