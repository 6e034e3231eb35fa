#pragma once

/// The last version of CUB before 3.0, which removed cub::Sum, cub::CountingInputIterator and their like.
#define CUB_VERSION 200800
#define CUB_MAJOR_VERSION 2
#define CUB_MINOR_VERSION 8
#define CUB_SUBMINOR_VERSION 0
