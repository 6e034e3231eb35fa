#pragma once

/// The last version of Thrust before 3.0, which removed thrust::unary_function and the like.
#define THRUST_VERSION 200800
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 8
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_PATCH_NUMBER 0
