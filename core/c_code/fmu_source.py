"""Template of NAME_fmu.c: the functions of FMI 2.0 for Co-Simulation around a generated step."""

TEXT = r"""/* Made by Kinetostat. @name@ behind the Functional Mock-up Interface 2.0 for Co-Simulation. */
#include "@name@.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum
{
    fmi2OK,
    fmi2Warning,
    fmi2Discard,
    fmi2Error,
    fmi2Fatal,
    fmi2Pending
} fmi2Status;

typedef enum
{
    fmi2ModelExchange,
    fmi2CoSimulation
} fmi2Type;

typedef enum
{
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);

typedef struct
{
    fmi2CallbackLogger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct
{
    @name@_state state;
    @name@_input input;
    @name@_output output;
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    int logging;
    int used;
    char name[128];
} Instance;

typedef struct
{
    @name@_state state;
    @name@_input input;
    int used;
} Kept;

static Instance instances[@instances@];
static Kept kept[@instances@];

static fmi2Status complain(const Instance *c, fmi2Status status, const char *text)
{
    if ((c != NULL) && (c->logger != NULL))
    {
        c->logger(c->environment, c->name, status, "logStatusError", "%s", text);
    }
    return status;
}

static void begin(Instance *c)
{
    (void)memset(&c->input, 0, sizeof c->input);
    @name@_start(&c->state);
    @name@_outputs(&c->state, &c->input, &c->output);
}

static int get(const Instance *c, fmi2ValueReference reference, fmi2Real *value)
{
    int known = 1;
    switch (reference)
    {
@get@
    default:
        known = 0;
        break;
    }
    return known;
}

static int set(Instance *c, fmi2ValueReference reference, fmi2Real value)
{
    int known = 1;
    switch (reference)
    {
@set@
    default:
        known = 0;
        break;
    }
    return known;
}

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count, const fmi2String words[])
{
    Instance *c = component;
    (void)count;
    (void)words;
    c->logging = on;
    return fmi2OK;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *found = NULL;
    (void)resources;
    (void)visible;
    if ((type == fmi2CoSimulation) && (guid != NULL) && (strcmp(guid, "@guid@") == 0))
    {
        for (int i = 0; (i < @instances@) && (found == NULL); i++)
        {
            if (!instances[i].used)
            {
                found = &instances[i];
            }
        }
    }
    if (found != NULL)
    {
        (void)memset(found, 0, sizeof *found);
        found->used = 1;
        found->logging = logging;
        found->logger = (functions != NULL) ? functions->logger : NULL;
        found->environment = (functions != NULL) ? functions->componentEnvironment : NULL;
        (void)strncpy(found->name, (name != NULL) ? name : "", sizeof found->name - 1U);
        begin(found);
    }
    else if ((functions != NULL) && (functions->logger != NULL))
    {
        functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s",
                          "Another GUID, not Co-Simulation, or more than @instances@ instances.");
    }
    return found;
}

EXPORT void fmi2FreeInstance(fmi2Component component)
{
    Instance *c = component;
    if (c != NULL)
    {
        c->used = 0;
    }
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean tolerant, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean ends, fmi2Real end)
{
    Instance *c = component;
    (void)tolerant;
    (void)tolerance;
    (void)ends;
    (void)end;
    c->state.begin = (@real@)start;
    c->state.time = (@real@)start;
    c->state.steps = 0UL;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    (void)component;
    return fmi2OK;
}

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    Instance *c = component;
    @name@_outputs(&c->state, &c->input, &c->output);
    return fmi2OK;
}

EXPORT fmi2Status fmi2Terminate(fmi2Component component)
{
    (void)component;
    return fmi2OK;
}

EXPORT fmi2Status fmi2Reset(fmi2Component component)
{
    begin(component);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                              fmi2Real values[])
{
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < count; i++)
    {
        if (!get(component, references[i], &values[i]))
        {
            status = complain(component, fmi2Error, "There is no variable of this reference.");
        }
    }
    return status;
}

EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                              const fmi2Real values[])
{
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < count; i++)
    {
        if (!isfinite(values[i]) || !set(component, references[i], values[i]))
        {
            status = complain(component, fmi2Error, "Not an input or parameter, or not a finite number.");
        }
    }
    return status;
}

static fmi2Status none(fmi2Component component, size_t count)
{
    return (count == 0U) ? fmi2OK : complain(component, fmi2Error, "All variables are real.");
}

EXPORT fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 fmi2Integer values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 const fmi2Integer values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 fmi2Boolean values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 const fmi2Boolean values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                fmi2String values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                const fmi2String values[])
{
    (void)references;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real now, fmi2Real length, fmi2Boolean no_return)
{
    Instance *c = component;
    const double steps = length / (double)@step@;
    const double whole = floor(steps + 0.5);
    fmi2Status result = fmi2OK;
    (void)now;
    (void)no_return;
    if (!(fabs(steps - whole) <= 1e-6 * (1.0 + whole)))
    {
        result = complain(c, fmi2Error, "The communication step is no whole number of the unit's own steps.");
    }
    for (double k = 0.0; (k < whole) && (result == fmi2OK); k += 1.0)
    {
        const int status = @name@_step(&c->state, &c->input, &c->output);
        if ((status & (@NAME@_NOT_FINITE | @NAME@_OUT_OF_REACH)) != 0)
        {
            result = complain(c, fmi2Error, "The machine is not finite, or its loops do not close.");
        }
    }
    return result;
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component component)
{
    return complain(component, fmi2Error, "Steps are never pending.");
}

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    const Instance *c = component;
    Kept *place = *state;
    for (int i = 0; (i < @instances@) && (place == NULL); i++)
    {
        if (!kept[i].used)
        {
            place = &kept[i];
        }
    }
    if (place == NULL)
    {
        return complain(c, fmi2Error, "More than @instances@ states are kept.");
    }
    place->used = 1;
    place->state = c->state;
    place->input = c->input;
    *state = place;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    Instance *c = component;
    const Kept *place = state;
    c->state = place->state;
    c->input = place->input;
    @name@_outputs(&c->state, &c->input, &c->output);
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    Kept *place = *state;
    (void)component;
    if (place != NULL)
    {
        place->used = 0;
    }
    *state = NULL;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    (void)component;
    (void)state;
    *size = sizeof(Kept);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size < sizeof(Kept))
    {
        return complain(component, fmi2Error, "There is too little room for the state.");
    }
    (void)memcpy(bytes, state, sizeof(Kept));
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                          fmi2FMUstate *state)
{
    fmi2Status status = fmi2Error;
    if (size == sizeof(Kept))
    {
        status = fmi2GetFMUstate(component, state);
    }
    if (status == fmi2OK)
    {
        (void)memcpy(*state, bytes, sizeof(Kept));
        ((Kept *)*state)->used = 1;
    }
    return status;
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                               size_t rows, const fmi2ValueReference knowns[], size_t columns,
                                               const fmi2Real change[], fmi2Real result[])
{
    (void)unknowns;
    (void)rows;
    (void)knowns;
    (void)columns;
    (void)change;
    (void)result;
    return complain(component, fmi2Error, "The unit does not provide directional derivatives.");
}

EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                              size_t count, const fmi2Integer orders[], const fmi2Real values[])
{
    (void)references;
    (void)orders;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                               size_t count, const fmi2Integer orders[], fmi2Real values[])
{
    (void)references;
    (void)orders;
    (void)values;
    return none(component, count);
}

EXPORT fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)component;
    (void)kind;
    *value = fmi2OK;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    const Instance *c = component;
    (void)kind;
    *value = (fmi2Real)c->state.time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    (void)value;
    return complain(component, fmi2Discard, "There is no such status.");
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)component;
    (void)kind;
    *value = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    (void)value;
    return complain(component, fmi2Discard, "There is no such status.");
}
"""
