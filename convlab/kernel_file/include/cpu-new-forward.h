#pragma once

/// Replaces the course's header of this name. The kernel file itself defines the functions that the header declares.

#include <cmath>
#include <iostream>
