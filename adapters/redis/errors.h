// Which Redis errors are definite: the command certainly had no effect. Everything that is not in the table is not.
#pragma once

#include <string_view>

namespace holdfast {

// `text` is an error reply: "READONLY You can't write against a read only replica."
bool is_definite(std::string_view text);

}  // namespace holdfast
