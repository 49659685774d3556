// The recorder of doors that drive a device at register level, under the name used here.
#pragma once

#include "trace/recorder.h"

namespace halogen::vm {

using trace::commands_of;
using trace::RecordedRun;
using trace::Recorder;

}  // namespace halogen::vm
