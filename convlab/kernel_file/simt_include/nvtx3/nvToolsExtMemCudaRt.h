#pragma once

#error "simt does not support the memory extension of NVTX"
