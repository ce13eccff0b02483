"""Generation of NAME_test.c, the test program of generated code."""

from __future__ import annotations

from core.c_code.plan import ExportPlan, state_parts

TOLERANCE = {"double": 1e-10, "float": 1e-3}
"""Largest accepted difference from the reference, relative to the size of the compared values."""


def write_test_program(plan: ExportPlan, samples: int) -> str:
    """Return the text of NAME_test.c, which repeats the reference simulation, compares every sample, and measures the
    time."""
    m, copies = plan.machine, list[str]()
    for letter, count, at in state_parts(plan):
        loop = [f"for (int i = 0; i < {count}; i++)", "{", f"    found[{at}i] = (double)state->{letter}[i];", "}"]
        copies += [f"        {line}" for line in loop]
    words = {
        "@name@": plan.name,
        "@NAME@": plan.upper,
        "@real@": plan.precision.type,
        "@count@": str(m.nq + m.nv + m.nx),
        "@samples@": str(samples),
        "@copies@": "\n".join(copies),
        "@tolerance@": repr(TOLERANCE[plan.precision.type]),
    }
    text = TEXT
    for word, value in words.items():
        text = text.replace(word, value)
    return text


TEXT = r"""/* Made by Kinetostat. Tries @name@.c: every sample of @name@_reference.csv is
 * compared, then steps are timed.
 * Usage: @name@_test [@name@_reference.csv]; the exit status is 0 if all is well. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 199309L
#endif

#include "@name@.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum
{
    COUNT = @count@,
    TIMED = 20000,
    RUN = 1000
};

static @name@_state machine;
static @name@_input input;
static @name@_output output;

static double now(void)
{
#if defined(_WIN32)
    return (double)clock() / (double)CLOCKS_PER_SEC;
#else
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_number(FILE *file, double *value)
{
    char text[64];
    int length = 0;
    int c = fgetc(file);
    while ((c == ',') || (c == '\n') || (c == '\r') || (c == ' '))
    {
        c = fgetc(file);
    }
    while ((c != EOF) && (c != ',') && (c != '\n') && (c != '\r') && (length < 63))
    {
        text[length] = (char)c;
        length++;
        c = fgetc(file);
    }
    text[length] = '\0';
    *value = strtod(text, NULL);
    return length > 0;
}

static int compare(const char *path, double *worst, unsigned long *at)
{
    const @name@_state *state = &machine;
    FILE *file = fopen(path, "r");
    int samples = 0;
    int c = 0;
    if (file == NULL)
    {
        return -1;
    }
    while ((c != '\n') && (c != EOF))
    {
        c = fgetc(file); /* the line of names */
    }
    @name@_start(&machine);
    for (int k = 0; k < @samples@; k++)
    {
        double found[COUNT];
        double steps = 0.0;
        double scale = 1.0;
        double wanted[COUNT];
        double joint_force[@NAME@_NV];
        int complete = read_number(file, &steps);
        for (int i = 0; i < @NAME@_NV; i++)
        {
            complete = read_number(file, &joint_force[i]) && complete;
        }
        for (int i = 0; i < COUNT; i++)
        {
            complete = read_number(file, &wanted[i]) && complete;
            scale = fmax(scale, fabs(wanted[i]));
        }
        if (!complete)
        {
            samples = -1;
            break;
        }
        while ((double)machine.steps < steps)
        {
            if ((@name@_step(&machine, &input, &output) & (@NAME@_NOT_FINITE | @NAME@_OUT_OF_REACH)) != 0)
            {
                break;
            }
        }
@copies@
        for (int i = 0; i < COUNT; i++)
        {
            const double difference = fabs(found[i] - wanted[i]) / scale;
            if (!(difference <= *worst))
            {
                *worst = difference;
                *at = machine.steps;
            }
        }
        for (int i = 0; i < @NAME@_NV; i++)
        {
            input.u[i] = (@real@)joint_force[i];
        }
        samples++;
    }
    (void)fclose(file);
    return samples;
}

int main(int argc, char **argv)
{
    static double taken[TIMED];
    static double least[RUN];
    double worst = 0.0;
    unsigned long at = 0UL;
    const char *path = (argc > 1) ? argv[1] : "@name@_reference.csv";
    const int samples = compare(path, &worst, &at);
    const int well = (samples == @samples@) && (worst <= @tolerance@);
    if (samples < 0)
    {
        (void)printf("%s cannot be read.\n", path);
        return 2;
    }
    (void)printf("%d samples, largest difference %.3g of their size (step %lu): %s\n", samples, worst, at,
                 well ? "passed" : "FAILED");
    @name@_start(&machine);
    for (int k = 0; k < TIMED; k++)
    {
        const double begin = now();
        (void)@name@_step(&machine, &input, &output);
        taken[k] = now() - begin;
        least[k % RUN] = k < RUN ? taken[k] : fmin(least[k % RUN], taken[k]);
        if (k % RUN == RUN - 1)
        {
            @name@_start(&machine);
        }
    }
    qsort(taken, (size_t)TIMED, sizeof taken[0], by_size);
    qsort(least, (size_t)RUN, sizeof least[0], by_size);
    (void)printf("ns per step: median %.0f, 99.9 %% %.0f, maximum %.0f", 1e9 * taken[TIMED / 2],
                 1e9 * taken[TIMED - TIMED / 1000 - 1], 1e9 * taken[TIMED - 1]);
    if (least[RUN / 2] > 0.0)
    {
        (void)printf("; without interruptions (least of %d runs) at most %.2f times the median", TIMED / RUN,
                     least[RUN - 1] / least[RUN / 2]);
    }
    (void)printf("\n");
    return well ? 0 : 1;
}
"""
