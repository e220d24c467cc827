/* What changes on a card from second to second: memory, load, heat, processes. */
#include "state.h"

static nvmlReturn_t put(struct reading reading, unsigned int *to)
{
    VALUE(reading);
    *to = (unsigned int)reading.value;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    CARD(card, device);
    VALUE(card->memory_total_mib);
    VALUE(card->memory_used_mib);
    VALUE(card->memory_reserved_mib);
    memory->total = (unsigned long long)card->memory_total_mib.value * MIB;
    memory->used = (unsigned long long)card->memory_used_mib.value * MIB;
    memory->reserved = (unsigned long long)card->memory_reserved_mib.value * MIB;
    memory->free = memory->total - memory->used - memory->reserved;
    return NVML_SUCCESS;
}

/* The first version counts what is reserved as used. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    nvmlMemory_v2_t all = {.version = nvmlMemory_v2};
    nvmlReturn_t result = nvmlDeviceGetMemoryInfo_v2(device, &all);
    *memory = (nvmlMemory_t){.total = all.total, .free = all.free, .used = all.used + all.reserved};
    return result;
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory)
{
    CARD(card, device);
    *memory = (nvmlBAR1Memory_t){.bar1Total = 32768 * MIB, .bar1Free = 32767 * MIB, .bar1Used = MIB};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    CARD(card, device);
    VALUE(card->utilization_percent);
    VALUE(card->memory_utilization_percent);
    utilization->gpu = (unsigned int)card->utilization_percent.value;
    utilization->memory = (unsigned int)card->memory_utilization_percent.value;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *celsius)
{
    CARD(card, device);
    if (sensor != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    return put(card->temperature_c, celsius);
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    unsigned int celsius = 0;
    nvmlReturn_t result = nvmlDeviceGetTemperature(device, temperature->sensorType, &celsius);
    temperature->temperature = (int)celsius;
    return result;
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *percent)
{
    CARD(card, device);
    return put(card->fan_percent, percent);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *state)
{
    CARD(card, device);
    VALUE(card->pstate);
    *state = (nvmlPstates_t)card->pstate.value;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t *state)
{
    return nvmlDeviceGetPerformanceState(device, state);
}

/* Nothing can compute on a simulated card, so no process ever holds it. */
static nvmlReturn_t no_processes(nvmlDevice_t device, unsigned int *count)
{
    CARD(card, device);
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos)
{
    (void)infos;
    return no_processes(device, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos)
{
    (void)infos;
    return no_processes(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                        nvmlProcessInfo_t *infos)
{
    (void)infos;
    return no_processes(device, count);
}
