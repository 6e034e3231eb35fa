#pragma once

#error "simt does not support NPP"
