#pragma once

#error "simt does not support nvJPEG"
