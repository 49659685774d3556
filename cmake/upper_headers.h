// Headers that most files of the upper rooms read (Precompiled.cmake).
#pragma once

#include "device/device.h"
#include "engine/engine.h"
#include "../cmake/lower_headers.h"
