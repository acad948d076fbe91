# The image that `clematis launch` describes: Clematis, Open MPI, an ssh server, OpenCL drivers.
#
#   docker build --target gpu -t clematis:gpu .    drivers come from the host (NVIDIA), no CPU driver
#   docker build --target cpu -t clematis:cpu .    with PoCL: any CPU, and the tests
#   docker build --target amd -t clematis:amd .    with Mesa's OpenCL
#   docker build --target intel -t clematis:intel .
#
# Run with the NVIDIA runtime (--gpus all), or --device /dev/kfd --device /dev/dri with the group of
# these files by number. Several ranks on a machine want --ipc=host or a larger --shm-size.
# `docker run --rm --entrypoint clematis IMAGE doctor` tells what is missing.

FROM debian:bookworm-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends build-essential cmake ninja-build pkg-config \
    ocl-icd-opencl-dev opencl-headers libclblast-dev libjpeg-dev libpng-dev libhdf5-dev libzip-dev \
    libjansson-dev libprotobuf-c-dev protobuf-c-compiler libopenmpi-dev \
 && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCLM_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib \
 && cmake --build /build \
 && cmake --install /build --strip

FROM debian:bookworm-slim AS gpu
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openmpi-bin openssh-client openssh-server tini \
    ocl-icd-libopencl1 libclblast1 libjpeg62-turbo libpng16-16 libhdf5-103-1 libzip4 libjansson4 \
    libprotobuf-c1 \
 && rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_*
# The NVIDIA runtime brings the driver's libraries but, in older versions, not this file. A file whose
# library is missing is passed over. Kubernetes of Google mounts the libraries in one folder.
RUN mkdir -p /etc/OpenCL/vendors /run/sshd \
 && echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd \
 && printf '%s\n' /usr/local/nvidia/lib64 /usr/local/nvidia/lib >/etc/ld.so.conf.d/nvidia.conf
COPY --from=build /usr/local/bin/clematis /usr/local/bin/
COPY --from=build /usr/local/lib/libclematis.so.* /usr/local/lib/
COPY --from=build /usr/local/share /usr/local/share
RUN ldconfig && useradd --create-home --uid 1000 clematis
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# The server on port 2222 needs no rights of root; sessions log in as the user that runs it.
USER clematis
WORKDIR /home/clematis
# Arguments of the job follow: Vertex AI puts `args` here.
ENTRYPOINT ["tini", "--", "clematis", "entrypoint", "--"]

FROM gpu AS cpu
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends pocl-opencl-icd \
 && rm -rf /var/lib/apt/lists/*
USER clematis

FROM gpu AS amd
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends mesa-opencl-icd \
 && rm -rf /var/lib/apt/lists/*
USER clematis

FROM gpu AS intel
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends intel-opencl-icd \
 && rm -rf /var/lib/apt/lists/*
USER clematis
