// Checks of a program of several parts: a failed check prints its position and ends the program.
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)
