#include <stdio.h>
#include <stdlib.h>

#include "trace.h"

void gpu_host_trace(const char *name)
{
    if (getenv("GPU_HOST_NVML_TRACE"))
        fprintf(stderr, "nvml-simulated: %s\n", name);
}
