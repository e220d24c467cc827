#define _GNU_SOURCE
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NVML return codes that the faults use; the numbers are the interface. */
enum { NOT_SUPPORTED = 3, UNKNOWN = 999 };

static const char *root(void)
{
    const char *dir = getenv("GPU_HOST_SIMULATED_ROOT"); /* for tests without a container */
    return dir ? dir : "";
}

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* A comment is a line that starts with # or ;, or what follows a blank and one of them. */
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++)
        if ((*at == '#' || *at == ';') && (at == line || isspace((unsigned char)at[-1]))) {
            *at = '\0';
            return;
        }
}

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

/* "42", or "error 999": the NVML return code that reading it gives. */
static struct reading reading(const char *text)
{
    if (!strncmp(text, "error ", 6))
        return (struct reading){.status = (int)strtol(text + 6, NULL, 10)};
    if (!strcmp(text, "unsupported"))
        return (struct reading){.status = NOT_SUPPORTED};
    return (struct reading){.value = strtod(text, NULL)};
}

static bool yes(const char *text)
{
    return !strcmp(text, "on") || !strcmp(text, "yes") || !strcmp(text, "1") || !strcmp(text, "true");
}

static struct card a_card(unsigned minor)
{
    struct card card = {
        .minor = minor,
        .pci_bus = 0x3b + minor,
        .pci_device_id = 0x223610de,
        .pci_subsystem_id = 0x148210de,
        .memory_total_mib = {0, 23028},
        .memory_reserved_mib = {0, 511},
        .fan_percent = {NOT_SUPPORTED, 0}, /* the A10 is cooled by the machine's own fans */
        .temperature_c = {0, 30},
        .power_w = {0, 20},
        .power_limit_w = {0, 150},
        .pstate = {0, 8},
        .compute_major = 8,
        .compute_minor = 6,
        .ecc = {0, 1},
    };
    copy(card.name, sizeof card.name, "NVIDIA A10 (simulated)");
    snprintf(card.uuid, sizeof card.uuid, "GPU-51515151-0000-4000-8000-%012u", minor);
    snprintf(card.serial, sizeof card.serial, "%013u", minor);
    copy(card.vbios, sizeof card.vbios, "94.02.75.00.01");
    return card;
}

/* Values that are not numbers, as cards of several kinds give them, one of each spelling. */
static void make_sentinel(struct card *card)
{
    card->fan_percent.status = NOT_SUPPORTED;
    card->utilization_percent.status = NOT_SUPPORTED;
    card->memory_utilization_percent.status = NOT_SUPPORTED;
    card->power_w.status = UNKNOWN;
    card->power_limit_w.status = NOT_SUPPORTED;
    card->temperature_c.status = UNKNOWN;
    card->pstate.status = UNKNOWN;
    card->ecc.status = NOT_SUPPORTED;
}

static void set_card(struct card *card, const char *key, const char *value)
{
    struct { const char *key; struct reading *at; } readings[] = {
        {"memory_total_mib", &card->memory_total_mib},
        {"memory_used_mib", &card->memory_used_mib},
        {"memory_reserved_mib", &card->memory_reserved_mib},
        {"temperature_c", &card->temperature_c},
        {"fan_percent", &card->fan_percent},
        {"utilization_percent", &card->utilization_percent},
        {"memory_utilization_percent", &card->memory_utilization_percent},
        {"power_w", &card->power_w},
        {"power_limit_w", &card->power_limit_w},
        {"pstate", &card->pstate},
    };
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        if (!strcmp(key, readings[i].key)) {
            *readings[i].at = reading(value);
            return;
        }
    if (!strcmp(key, "name"))
        copy(card->name, sizeof card->name, value);
    else if (!strcmp(key, "uuid"))
        copy(card->uuid, sizeof card->uuid, value);
    else if (!strcmp(key, "serial"))
        copy(card->serial, sizeof card->serial, value);
    else if (!strcmp(key, "vbios"))
        copy(card->vbios, sizeof card->vbios, value);
    else if (!strcmp(key, "minor"))
        card->minor = (unsigned)strtoul(value, NULL, 10);
    else if (!strcmp(key, "pci_bus_id"))
        sscanf(value, "%x:%x:%x", &card->pci_domain, &card->pci_bus, &card->pci_device);
    else if (!strcmp(key, "pci_device_id"))
        card->pci_device_id = (unsigned)strtoul(value, NULL, 16);
    else if (!strcmp(key, "pci_subsystem_id"))
        card->pci_subsystem_id = (unsigned)strtoul(value, NULL, 16);
    else if (!strcmp(key, "compute_capability"))
        sscanf(value, "%u.%u", &card->compute_major, &card->compute_minor);
    else if (!strcmp(key, "mig"))
        card->mig = yes(value) ? MIG_ON : !strcmp(value, "unsupported") ? MIG_UNSUPPORTED : MIG_OFF;
    else if (!strcmp(key, "persistence"))
        card->persistence = yes(value);
    else if (!strcmp(key, "ecc"))
        card->ecc = !strcmp(value, "unsupported") ? reading(value) : (struct reading){.value = yes(value)};
    else if (!strcmp(key, "fault")) {
        card->lost = !strcmp(value, "lost");
        if (!strcmp(value, "sentinel"))
            make_sentinel(card);
    }
}

static void set_machine(struct machine *machine, const char *key, const char *value)
{
    unsigned major = 0, minor = 0;
    if (!strcmp(key, "init_return"))
        machine->init_return = (int)strtol(value, NULL, 10);
    else if (!strcmp(key, "driver_version"))
        copy(machine->driver_version, sizeof machine->driver_version, value);
    else if (!strcmp(key, "cuda_version") && sscanf(value, "%u.%u", &major, &minor) == 2)
        machine->cuda_version = major * 1000 + minor * 10;
}

static bool node_exists(const struct card *card)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/dev/nvidia%u", root(), card->minor);
    return !access(path, F_OK);
}

static void keep_present(struct machine *machine)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < machine->count; i++)
        if (node_exists(&machine->cards[i]))
            machine->cards[kept++] = machine->cards[i];
    machine->count = kept;
}

bool machine_load(struct machine *machine)
{
    char path[4096], line[512];
    struct card *card = NULL;
    unsigned number;

    *machine = (struct machine){.driver_version = "550.163.01", .cuda_version = 12040};
    snprintf(path, sizeof path, "%s/etc/gpu-host/simulated", root());
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        cut_comment(line);
        char *text = trimmed(line), *equals = strchr(text, '=');
        if (*text == '[') {
            card = NULL;
            if (sscanf(text, "[card %u]", &number) == 1 && machine->count < MAX_CARDS) {
                card = &machine->cards[machine->count++];
                *card = a_card(number);
            }
            continue;
        }
        if (!equals)
            continue;
        *equals = '\0';
        if (card)
            set_card(card, trimmed(text), trimmed(equals + 1));
        else if (!machine->count)
            set_machine(machine, trimmed(text), trimmed(equals + 1));
    }
    fclose(file);
    keep_present(machine);
    return true;
}
