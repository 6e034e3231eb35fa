# Toolchain for arm64 Linux on Debian for x86-64 (cmake/packages-arm64.txt). qemu runs the tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# With the cross compiler's own copy of glibc in place of Debian's, threads do not start.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /)
set(Protobuf_PROTOC_EXECUTABLE /usr/bin/protoc)
