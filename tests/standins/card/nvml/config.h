/* What /etc/gpu-host/simulated says: the machine and its cards. */
#pragma once
#include <stdbool.h>

#define MAX_CARDS 16

/* A value, or the NVML return code that asking for it gives. */
struct reading {
    int status;
    double value;
};

enum mig { MIG_UNSUPPORTED, MIG_OFF, MIG_ON };

struct card {
    unsigned minor;
    char name[96];
    char uuid[80];
    char serial[30];
    char vbios[32];
    unsigned pci_domain, pci_bus, pci_device, pci_device_id, pci_subsystem_id;
    struct reading memory_total_mib, memory_used_mib, memory_reserved_mib;
    struct reading temperature_c, fan_percent, utilization_percent, memory_utilization_percent;
    struct reading power_w, power_limit_w, pstate;
    unsigned compute_major, compute_minor;
    enum mig mig;
    bool persistence;
    struct reading ecc; /* 1 on, 0 off */
    bool lost;
};

struct machine {
    int init_return;
    char driver_version[80];
    unsigned cuda_version; /* as NVML says it: 12040 is 12.4 */
    unsigned count;        /* only cards whose /dev/nvidiaN exists */
    struct card cards[MAX_CARDS];
};

/* Read the file afresh, so that a changed file needs no restart of anything. False: it is not there. */
bool machine_load(struct machine *machine);
