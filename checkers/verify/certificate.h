// A decision about one object as JSON, so that somebody else can check it again:
//
//   {"version": 1, "key": "orders", "model": {"kind": "mutex", "identity": "hold", …}, "answer": "violation",
//    "rule": "overlapping-holds", "because": "…", "core": [3, 8], "from": 1200, "to": 1900}
//
// "witness" and "instants" may have millions of members: each is the difference to the one before (the first to 0),
// mostly two or three characters. A witness in a file of its own has "witness_file" instead; the file holds the same
// differences, separated by blanks. What is not there has its default. Promise::sets and texts are not written: they
// belong to the history, which is needed for checking anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/objects/decision.h"

namespace holdfast::verify {

struct Certificate {
  std::string key;  // which object of the history
  objects::Promise promise;
  objects::Decision decision;
  std::string witness_file;  // when not empty: where the witness is
};

std::string write_certificate(const Certificate& certificate);
// Throws std::invalid_argument, naming the member and its value, when the text is no certificate.
Certificate read_certificate(std::string_view text);

// The contents of a witness file.
std::string write_witness(std::span<const std::uint32_t> witness);
std::vector<std::uint32_t> read_witness(std::string_view text);

}  // namespace holdfast::verify
