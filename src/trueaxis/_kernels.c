/* The two products of a sweep, compiled: a block of rows stays in cache and skinny factors stay
   in registers, where a general matrix product packs both. `_products.py` holds the reference.

   Every function reads and writes buffers of the caller and runs without the GIL. */

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CHUNK 64    /* most rows whose sums are made in the precision of the products */
#define LINE 64     /* bytes in a line of the cache */
#define WIDEST 64   /* bytes in the widest vector: what rows are padded to */
#define MOST_ROWS 8 /* the largest ROWS below */
#define AHEAD 2     /* groups of rows between the one multiplied and the one asked for */
#define BEYOND 512  /* bytes between the columns accumulated and those asked for */

#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define NAME(x) JOIN(x, TYPE, ISA)

#if defined(__x86_64__)
#define ISA avx512
#define TARGET __attribute__((target("avx512f,avx512dq,fma")))
#define BYTES 64
#define ROWS 8
#define WIDTH 3
#define WIDE 12
#define ROW double
#define T double
#define TYPE f64
#include "_kernels_body.h"
#define ROW float
#define T float
#define TYPE f32
#include "_kernels_body.h"
#define ROW double
#define T float
#define TYPE mixed
#include "_kernels_body.h"
#undef ISA
#undef TARGET
#undef BYTES
#undef ROWS
#undef WIDTH
#undef WIDE

#define ISA avx2
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 4
#define WIDTH 2
#define WIDE 5
#define ROW double
#define T double
#define TYPE f64
#include "_kernels_body.h"
#define ROW float
#define T float
#define TYPE f32
#include "_kernels_body.h"
#define ROW double
#define T float
#define TYPE mixed
#include "_kernels_body.h"
#undef ISA
#undef TARGET
#undef BYTES
#undef ROWS
#undef WIDTH
#undef WIDE
#endif

#define ISA plain
#define TARGET
#define BYTES 16
#define ROWS 4
#define WIDTH 2
#define WIDE 4
#define ROW double
#define T double
#define TYPE f64
#include "_kernels_body.h"
#define ROW float
#define T float
#define TYPE f32
#include "_kernels_body.h"
#define ROW double
#define T float
#define TYPE mixed
#include "_kernels_body.h"

typedef void Project(const void *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const void *, const void *,
                     const void *, ptrdiff_t, ptrdiff_t, void *, void *, double *, double *);
typedef void Accumulate(const void *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const void *, const void *,
                        const void *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double *, void *,
                        double *, ptrdiff_t, double *);

enum { F64, F32, MIXED }; /* rows and products float64, float32; float64 with float32 products */

typedef struct {
    const char *name;
    Project *project[3];
    Accumulate *accumulate[3];
} Kernels;

#define ALL(what, ISA) {what##_f64_##ISA, what##_f32_##ISA, what##_mixed_##ISA}
#define ENTRY(ISA) {#ISA, ALL(project, ISA), ALL(accumulate, ISA)}

static const Kernels all[] = {
#if defined(__x86_64__)
    ENTRY(avx512),
    ENTRY(avx2),
#endif
    ENTRY(plain),
};

#define N_KERNELS ((int)(sizeof(all) / sizeof(all[0])))

static int usable(int i)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (i == 0) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (i == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return 1;
}

static const Kernels *chosen;

/* Buffers of one call, released together. */
typedef struct {
    Py_buffer view[9];
    int used;
} Held;

static void release(Held *held)
{
    while (held->used) PyBuffer_Release(&held->view[--held->used]);
}

static Py_buffer *hold(Held *held, PyObject *object, int ndim, char format, int writable)
{
    Py_buffer *view = &held->view[held->used];
    int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags)) return NULL;
    held->used++;
    if (view->ndim != ndim || view->format == NULL || view->format[0] != format ||
        view->format[1] != 0 || view->strides[ndim - 1] != view->itemsize) {
        PyErr_SetString(PyExc_TypeError, "kernel: a buffer of another shape, type or order");
        return NULL;
    }
    return view;
}

#define ROW_STRIDE(view) ((view)->strides[0] / (view)->itemsize)

/* Which of the types above the rows X and the scores Z have, -1 for none; their letters as well. */
static int types_of(PyObject *X, PyObject *Z, char letters[2])
{
    for (int i = 0; i < 2; i++) {
        Py_buffer any;
        if (PyObject_GetBuffer(i ? Z : X, &any, PyBUF_STRIDES | PyBUF_FORMAT)) return -1;
        letters[i] = any.format ? any.format[0] : 0;
        PyBuffer_Release(&any);
    }
    for (int type = F64; type <= MIXED; type++)
        if (memcmp(letters, &"ddffdf"[2 * type], 2) == 0) return type;
    PyErr_SetString(PyExc_TypeError, "kernel: rows and products are not float64 or float32");
    return -1;
}

static int contiguous(const Py_buffer *view) { return ROW_STRIDE(view) == view->shape[1]; }

static PyObject *misfit(Held *held)
{
    release(held);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "kernel: shapes that do not fit each other");
    return NULL;
}

/* Memory that begins, at *room, with a line of the cache; to be freed is what is returned. */
static void *aligned(ptrdiff_t bytes, void **room)
{
    void *raw = PyMem_Malloc((size_t)bytes + LINE);
    if (!raw) PyErr_NoMemory();
    *room = (void *)(((uintptr_t)raw + LINE - 1) / LINE * LINE);
    return raw;
}

static PyObject *project(PyObject *self, PyObject *args)
{
    PyObject *oX, *oHi, *oLo, *oP, *oZ, *oS, *oI;
    Py_ssize_t inner;
    if (!PyArg_ParseTuple(args, "OOOOnOOO", &oX, &oHi, &oLo, &oP, &inner, &oZ, &oS, &oI))
        return NULL;
    Held held = {.used = 0};
    char as[2];
    const int type = types_of(oX, oZ, as);
    Py_buffer *X, *hi, *lo = NULL, *P, *Z, *S, *I;
    if (type < 0 || !(X = hold(&held, oX, 2, as[0], 0)) ||
        !(hi = hold(&held, oHi, 1, as[0], 0)) ||
        (oLo != Py_None && !(lo = hold(&held, oLo, 1, as[0], 0))) ||
        !(P = hold(&held, oP, 2, as[1], 0)) || !(Z = hold(&held, oZ, 2, as[1], 1)) ||
        !(S = hold(&held, oS, 1, 'd', 1)) || !(I = hold(&held, oI, 1, 'd', 1)))
        return misfit(&held);
    const ptrdiff_t n = X->shape[0], m = X->shape[1], ldp = P->shape[1];
    const ptrdiff_t lanes = WIDEST / Z->itemsize;
    if (hi->shape[0] != m || (lo && lo->shape[0] != m) || P->shape[0] != m || ldp % lanes ||
        inner < 0 || inner > ldp || Z->shape[0] != n || Z->shape[1] != ldp ||
        S->shape[0] != n || I->shape[0] != n || !contiguous(P) || !contiguous(Z))
        return misfit(&held);
    void *room, *raw = aligned(MOST_ROWS * (m + lanes) * Z->itemsize, &room);
    if (!raw) return misfit(&held);
    Py_BEGIN_ALLOW_THREADS;
    chosen->project[type](X->buf, ROW_STRIDE(X), n, m, hi->buf, lo ? lo->buf : NULL, P->buf, ldp,
                          inner, room, Z->buf, S->buf, I->buf);
    Py_END_ALLOW_THREADS;
    PyMem_Free(raw);
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *accumulate(PyObject *self, PyObject *args)
{
    PyObject *oX, *oHi, *oLo, *oZ, *oD, *oS, *oG;
    Py_ssize_t first, q;
    if (!PyArg_ParseTuple(args, "OOOOnnOOO", &oX, &oHi, &oLo, &oZ, &first, &q, &oD, &oS, &oG))
        return NULL;
    Held held = {.used = 0};
    char as[2];
    const int type = types_of(oX, oZ, as);
    Py_buffer *X, *hi, *lo = NULL, *Z, *D, *S, *G;
    if (type < 0 || !(X = hold(&held, oX, 2, as[0], 0)) ||
        !(hi = hold(&held, oHi, 1, as[0], 0)) ||
        (oLo != Py_None && !(lo = hold(&held, oLo, 1, as[0], 0))) ||
        !(Z = hold(&held, oZ, 2, as[1], 0)) || !(D = hold(&held, oD, 1, 'd', 0)) ||
        !(S = hold(&held, oS, 2, 'd', 1)) || !(G = hold(&held, oG, 2, 'd', 1)))
        return misfit(&held);
    const ptrdiff_t n = X->shape[0], m = X->shape[1], ldz = Z->shape[1];
    const ptrdiff_t lanes = WIDEST / Z->itemsize;
    const ptrdiff_t padded = (m + lanes - 1) / lanes * lanes;
    if (hi->shape[0] != m || (lo && lo->shape[0] != m) || D->shape[0] != n ||
        Z->shape[0] != n || ldz % lanes || first < 0 || q < 0 || first + q > ldz ||
        S->shape[0] != q + 1 || S->shape[1] < padded || G->shape[0] != q + 1 ||
        G->shape[1] != ldz || !contiguous(Z) || !contiguous(S) || !contiguous(G))
        return misfit(&held);
    void *room, *raw = aligned(CHUNK * (lanes + q + 1) * Z->itemsize, &room);
    if (!raw) return misfit(&held);
    Py_BEGIN_ALLOW_THREADS;
    chosen->accumulate[type](X->buf, ROW_STRIDE(X), n, m, hi->buf, lo ? lo->buf : NULL, Z->buf,
                             ldz, first, q, D->buf, room, S->buf, S->shape[1], G->buf);
    Py_END_ALLOW_THREADS;
    PyMem_Free(raw);
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *instruction_sets(PyObject *self, PyObject *unused)
{
    PyObject *names = PyList_New(0);
    for (int i = 0; names && i < N_KERNELS; i++)
        if (usable(i)) {
            PyObject *name = PyUnicode_FromString(all[i].name);
            if (!name || PyList_Append(names, name)) {
                Py_XDECREF(name);
                Py_CLEAR(names);
                break;
            }
            Py_DECREF(name);
        }
    return names;
}

static PyObject *choose(PyObject *self, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (int i = 0; i < N_KERNELS; i++)
        if (usable(i) && strcmp(all[i].name, name) == 0) {
            chosen = &all[i];
            Py_RETURN_NONE;
        }
    PyErr_Format(PyExc_ValueError, "instruction set %s is not to be had here", name);
    return NULL;
}

static PyMethodDef methods[] = {
    {"project", project, METH_VARARGS,
     "project(X, hi, lo, P, inner, Z, squares, inside): with B = X - hi - lo, made in the type of "
     "X and rounded to that of Z, Z = B P, and the squared norms of the rows of B and of the "
     "first `inner` columns of Z."},
    {"accumulate", accumulate, METH_VARARGS,
     "accumulate(X, hi, lo, Z, first, q, d, S, G): with B = X - hi - lo and "
     "Q = d[:, None] * [Z[:, first:first+q], 1], S += Q^T B and G += Q^T Z."},
    {"instruction_sets", instruction_sets, METH_NOARGS, "Names usable here, fastest first."},
    {"choose", choose, METH_VARARGS, "choose(name): use this instruction set from now on."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernels", "Products of a sweep with skinny factors.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    for (int i = N_KERNELS; i-- > 0;)
        if (usable(i)) chosen = &all[i];
    return PyModule_Create(&definition);
}
