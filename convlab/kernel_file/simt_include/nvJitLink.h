#pragma once

#error "simt does not support nvJitLink"
