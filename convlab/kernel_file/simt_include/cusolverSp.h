#pragma once

#error "simt does not support cuSOLVER"
