// ResourceLink: the client's end of the connection to the guarded resource. Lines go through it unchanged.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "adapters/cpp/lines.h"

namespace holdfast {

class ResourceLink {
 public:
  ResourceLink() = default;
  ResourceLink(const ResourceLink&) = delete;
  ResourceLink& operator=(const ResourceLink&) = delete;
  ~ResourceLink() { disconnect(); }

  void configure(std::string address, std::chrono::milliseconds limit);

  struct Exchange {
    std::string_view line;  // the answer; valid until the next exchange
    bool sent = false;      // when there is no answer: whether the resource may have seen the request
    std::string error;
  };
  // Connects when needed. After any failure the connection is dropped, so that a late answer cannot be mistaken for
  // that of a later request.
  Exchange exchange(std::string_view line);

 private:
  void disconnect();

  std::string address_;
  std::chrono::milliseconds limit_{};
  int descriptor_ = -1;
  std::string outgoing_;
  LineBuffer incoming_;
};

}  // namespace holdfast
