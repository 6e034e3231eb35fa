#pragma once

#error "simt does not support NCCL: it has one device"
