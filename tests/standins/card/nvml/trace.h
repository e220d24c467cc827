/* With GPU_HOST_NVML_TRACE set, the name of every stub that is called goes to stderr. */
#pragma once
void gpu_host_trace(const char *name);
