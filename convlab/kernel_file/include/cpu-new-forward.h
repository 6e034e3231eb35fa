#pragma once

/// Stands in for the course's header of this name: the file itself defines what it declares.

#include <cmath>
#include <iostream>
