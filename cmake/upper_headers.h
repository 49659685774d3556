// Headers that most files of the upper rooms read (Precompiled.cmake).
#pragma once

#include "../cmake/lower_headers.h"
#include "device/device.h"
#include "engine/engine.h"
