// Files to and from a host by SFTP. Permission bits go along.
//
// A file appears under its name only when it is whole: it is written beside it and renamed. A transfer that makes no
// progress for half a minute ends with an Error.
#pragma once

#include <filesystem>
#include <string>

#include "clusters/ssh/session.h"

namespace holdfast {

void upload_file(Session& session, const std::filesystem::path& ours, const std::string& theirs);
void download_file(Session& session, const std::string& theirs, const std::filesystem::path& ours);

}  // namespace holdfast
