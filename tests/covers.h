// COVERS("DG1-FW-03"): the test proves this requirement row of docs/requirements/. `halogen coverage` reads the sources
// for these names and fails on an id that no ledger has; the test's XML result carries the id too, so that
// `halogen coverage --results DIR` counts only what ran and passed.
#pragma once

#include <gtest/gtest.h>

#define COVERS(id) ::testing::Test::RecordProperty("covers:" id, 1)
