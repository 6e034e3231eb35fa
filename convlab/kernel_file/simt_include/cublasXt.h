#pragma once

#error "simt does not support cublasXt"
