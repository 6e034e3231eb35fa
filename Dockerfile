# convlab in a container, in two targets: `cpu`, and `cuda` for NVIDIA GPUs. docs/guide/containers.md says how to build and run them.
ARG DEBIAN=debian:12-slim
ARG CUDA=13.0.2
# devel, for kernel files on a GPU: it has nvcc.
ARG CUDA_KIND=runtime

# What both builds do: packages by the lists that run.sh and test.sh read, and a Debian package, which names the libraries that
# it needs.
FROM ${DEBIAN} AS cpu-build
WORKDIR /src
COPY cmake cmake
# hadolint ignore=DL3008
RUN bash -euc 'root=$PWD; . cmake/setup.sh; install_missing cmake/packages.txt' && \
    apt-get install -y --no-install-recommends dpkg-dev file
COPY . .
RUN cmake --preset cpu -DCONVLAB_TESTS=OFF -DCONVLAB_CLASS=OFF && ninja -C build/cpu && \
    cpack --config build/cpu/CPackConfig.cmake -B /packages

FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS cuda-build
# As "80;90a"; empty: all that docs/guide/containers.md names.
ARG CUDA_ARCHITECTURES=
WORKDIR /src
COPY cmake cmake
# hadolint ignore=DL3008
RUN bash -euc 'root=$PWD; . cmake/setup.sh; install_missing cmake/packages.txt' && \
    apt-get install -y --no-install-recommends dpkg-dev file
COPY . .
RUN cmake --preset cuda -DCONVLAB_TESTS=OFF -DCONVLAB_CLASS=OFF "-DCONVLAB_CUDA_ARCHITECTURES=$CUDA_ARCHITECTURES" && \
    ninja -C build/cuda && cpack --config build/cuda/CPackConfig.cmake -B /packages

FROM ${DEBIAN} AS cpu
LABEL org.opencontainers.image.title="convlab" \
      org.opencontainers.image.description="A CNN inference engine with a laboratory of convolution kernels; CPU" \
      org.opencontainers.image.licenses="MIT"
# For kernel files; empty for an image that only runs networks.
ARG COMPILER="g++ libc6-dev libfmt-dev"
# hadolint ignore=DL3008,SC2086
RUN --mount=type=bind,from=cpu-build,source=/packages,target=/packages \
    apt-get update && \
    apt-get install -y --no-install-recommends /packages/*.deb dataset-fashion-mnist $COMPILER && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --create-home --uid 1000 convlab && \
    install -d -o convlab /work
# What kernel files include, kernels as files, and what reports compare with.
COPY convlab /usr/share/convlab/convlab
COPY bench /usr/share/convlab/bench
COPY results /usr/share/convlab/results
ENV CONVLAB_CACHE=/tmp/convlab-cache
WORKDIR /work
USER 1000
ENTRYPOINT ["convlab"]
CMD ["--help"]

FROM nvidia/cuda:${CUDA}-${CUDA_KIND}-ubuntu24.04 AS cuda
LABEL org.opencontainers.image.title="convlab" \
      org.opencontainers.image.description="A CNN inference engine with a laboratory of convolution kernels; CPU and NVIDIA GPUs" \
      org.opencontainers.image.licenses="MIT"
ARG COMPILER="g++ libc6-dev libfmt-dev"
# Ubuntu's image has a user with this id.
# hadolint ignore=DL3008,SC2086
RUN --mount=type=bind,from=cuda-build,source=/packages,target=/packages \
    apt-get update && \
    apt-get install -y --no-install-recommends /packages/*.deb dataset-fashion-mnist $COMPILER && \
    rm -rf /var/lib/apt/lists/* && \
    { userdel --remove ubuntu || true; } && \
    useradd --create-home --uid 1000 convlab && \
    install -d -o convlab /work
COPY convlab /usr/share/convlab/convlab
COPY bench /usr/share/convlab/bench
COPY results /usr/share/convlab/results
ENV CONVLAB_CACHE=/tmp/convlab-cache
WORKDIR /work
USER 1000
ENTRYPOINT ["convlab"]
CMD ["--help"]
