// COVERS("DG1-FW-03"): the test proves this requirement row of docs/requirements/. `halogen coverage` reads the sources
// for these names and fails on an id that no ledger has; at run time the id is kept with the test's result.
#pragma once

#include <gtest/gtest.h>

#define COVERS(id) ::testing::Test::RecordProperty("covers", id)
