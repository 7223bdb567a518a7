/* The two products of a sweep for one precision and one width of vectors.

   Included once for each instruction set, with these macros set:
     T      float or double             LANES  numbers in a vector
     NAME(x)  the function's name for this T and instruction set
     TARGET   the attribute that lets the compiler use the instruction set
     ROWS   rows that are multiplied at once; ROWS x 2 + 2 vectors fit the registers
     COLS   vectors of columns that are accumulated at once; COLS x 4 + COLS + 1 likewise

   Vectors are GCC's and Clang's portable ones; there are no intrinsics. */

typedef T NAME(vec) __attribute__((vector_size(sizeof(T) * LANES), aligned(sizeof(T))));
typedef double NAME(wide) __attribute__((vector_size(sizeof(double) * LANES), aligned(8)));
#define VEC NAME(vec)
#define WIDE NAME(wide)
#define PADDED(m) (((m) + LANES - 1) / LANES * LANES)

/* The sum of a vector's numbers in double, halves added to halves. */
TARGET static inline __attribute__((always_inline)) double NAME(total)(VEC v)
{
    WIDE w = __builtin_convertvector(v, WIDE);
#if LANES >= 16
    typedef double eight __attribute__((vector_size(64)));
    eight h[2];
    memcpy(h, &w, sizeof h);
    h[0] += h[1];
#elif LANES >= 8
    typedef double eight __attribute__((vector_size(64)));
    eight h[1];
    memcpy(h, &w, sizeof h);
#endif
#if LANES >= 8
    typedef double four __attribute__((vector_size(32)));
    four f[2];
    memcpy(f, h, sizeof f);
    f[0] += f[1];
#elif LANES >= 4
    typedef double four __attribute__((vector_size(32)));
    four f[1];
    memcpy(f, &w, sizeof f);
#endif
#if LANES >= 4
    typedef double two __attribute__((vector_size(16)));
    two t[2];
    memcpy(t, f, sizeof t);
    t[0] += t[1];
    return t[0][0] + t[0][1];
#else
    return w[0] + w[1];
#endif
}

/* b <- x - hi - lo for one row, zeros in its padding; returns ||b||^2 where it is `wanted`. */
TARGET static inline __attribute__((always_inline)) double NAME(deviate)(
    const T *x, const T *hi, const T *lo, ptrdiff_t m, ptrdiff_t ldb, T *b, const int wanted)
{
    VEC sum = {0}, second = {0};
    ptrdiff_t i = 0;
    for (; i + 2 * LANES <= m; i += 2 * LANES) {
        VEC u = *(const VEC *)(x + i) - *(const VEC *)(hi + i);
        VEC v = *(const VEC *)(x + i + LANES) - *(const VEC *)(hi + i + LANES);
        if (lo) {
            u -= *(const VEC *)(lo + i);
            v -= *(const VEC *)(lo + i + LANES);
        }
        *(VEC *)(b + i) = u;
        *(VEC *)(b + i + LANES) = v;
        if (wanted) {
            sum += u * u;
            second += v * v;
        }
    }
    for (; i < ldb; i += LANES) {
        VEC u = {0};
        for (int l = 0; l < LANES && i + l < m; l++)
            u[l] = lo ? x[i + l] - hi[i + l] - lo[i + l] : x[i + l] - hi[i + l];
        *(VEC *)(b + i) = u;
        if (wanted) sum += u * u;
    }
    return wanted ? NAME(total)(sum + second) : 0.0;
}

/* The sum of the squares of z's first `inner` numbers. */
TARGET static inline __attribute__((always_inline)) double NAME(squares)(
    const T *z, ptrdiff_t inner)
{
    VEC sum = {0};
    ptrdiff_t j = 0;
    for (; j + LANES <= inner; j += LANES) sum += *(const VEC *)(z + j) * *(const VEC *)(z + j);
    VEC last = {0};
    for (int l = 0; l < LANES && j + l < inner; l++) last[l] = z[j + l];
    return NAME(total)(sum + last * last);
}

/* Z <- B P for `rows` rows (a constant) and `width` vectors of columns (a constant, 1 or 2).

   Meanwhile the memory from `next` on, rows of X that come later, is asked for: the loop has
   nothing else to wait for, and the main memory is the slowest thing in a sweep. */
TARGET static inline __attribute__((always_inline)) void NAME(multiply)(
    const T *b, ptrdiff_t ldb, const T *p, ptrdiff_t ldp, ptrdiff_t m,
    T *z, ptrdiff_t ldz, const char *next, const int rows, const int width)
{
    VEC acc[ROWS][2];
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++) acc[r][w] = (VEC){0};
    for (ptrdiff_t i = 0; i < m; i++) {
        VEC p0 = *(const VEC *)(p + i * ldp);
        VEC p1 = width > 1 ? *(const VEC *)(p + i * ldp + LANES) : p0;
        __builtin_prefetch(next + i * (ptrdiff_t)(ROWS * sizeof(T)), 0, 2);
        _Pragma("GCC unroll 8")
        for (int r = 0; r < rows; r++) {
            T x = b[r * ldb + i];
            acc[r][0] += p0 * x;
            if (width > 1) acc[r][1] += p1 * x;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++) *(VEC *)(z + r * ldz + w * LANES) = acc[r][w];
}

TARGET static void NAME(project)(
    const T *X, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t m, const T *hi, const T *lo,
    const T *P, ptrdiff_t ldp, ptrdiff_t inner, T *room, T *Z, double *squares, double *inside)
{
    const ptrdiff_t ldb = PADDED(m);
    for (ptrdiff_t r = 0; r < n; r += ROWS) {
        const int rows = n - r < ROWS ? (int)(n - r) : ROWS;
        const char *next = (const char *)(X + (r + AHEAD * ROWS) * ldx);
        for (int s = 0; s < rows; s++)
            squares[r + s] =
                NAME(deviate)(X + (r + s) * ldx, hi, lo, m, ldb, room + s * ldb, 1);
        for (ptrdiff_t j = 0; j < ldp; j += 2 * LANES) {
            const T *p = P + j, *b = room;
            T *z = Z + r * ldp + j;
            const int width = ldp - j > LANES ? 2 : 1;
            if (rows == ROWS && width == 2)
                NAME(multiply)(b, ldb, p, ldp, m, z, ldp, next, ROWS, 2);
            else if (rows == ROWS)
                NAME(multiply)(b, ldb, p, ldp, m, z, ldp, next, ROWS, 1);
            else
                for (int s = 0; s < rows; s++, b += ldb, z += ldp) {
                    if (width == 2)
                        NAME(multiply)(b, ldb, p, ldp, m, z, ldp, next, 1, 2);
                    else
                        NAME(multiply)(b, ldb, p, ldp, m, z, ldp, next, 1, 1);
                }
        }
        for (int s = 0; s < rows; s++) inside[r + s] = NAME(squares)(Z + (r + s) * ldp, inner);
    }
}

/* S[j, i] += sum_r Q[r, j] B[r, i] for `cols` vectors of i and `wide` values of j (constants). */
TARGET static inline __attribute__((always_inline)) void NAME(gather)(
    const T *b, ptrdiff_t ldb, const T *q, ptrdiff_t ldq, ptrdiff_t rows,
    double *s, ptrdiff_t lds, const int cols, const int wide)
{
    VEC acc[4][COLS];
    for (int j = 0; j < wide; j++)
        for (int c = 0; c < cols; c++) acc[j][c] = (VEC){0};
    for (ptrdiff_t r = 0; r < rows; r++) {
        VEC x[COLS];
        for (int c = 0; c < cols; c++) x[c] = *(const VEC *)(b + r * ldb + c * LANES);
        for (int j = 0; j < wide; j++) {
            T y = q[r * ldq + j];
            for (int c = 0; c < cols; c++) acc[j][c] += x[c] * y;
        }
    }
    for (int j = 0; j < wide; j++)
        for (int c = 0; c < cols; c++)
            *(WIDE *)(s + j * lds + c * LANES) += __builtin_convertvector(acc[j][c], WIDE);
}

/* The same for all `wide` values of j, and a constant number of vectors of i. */
TARGET static inline __attribute__((always_inline)) void NAME(strip)(
    const T *b, ptrdiff_t ldb, const T *Q, ptrdiff_t wide, ptrdiff_t rows, double *s,
    ptrdiff_t lds, const int cols)
{
    ptrdiff_t j = 0;
    for (; j + 4 <= wide; j += 4)
        NAME(gather)(b, ldb, Q + j, wide, rows, s + j * lds, lds, cols, 4);
    switch (wide - j) {
    case 3: NAME(gather)(b, ldb, Q + j, wide, rows, s + j * lds, lds, cols, 3); break;
    case 2: NAME(gather)(b, ldb, Q + j, wide, rows, s + j * lds, lds, cols, 2); break;
    case 1: NAME(gather)(b, ldb, Q + j, wide, rows, s + j * lds, lds, cols, 1);
    }
}

/* S += QᵀB for `rows` rows, S in double, with lds numbers a row. */
TARGET static void NAME(add_product)(
    const T *B, ptrdiff_t ldb, const T *Q, ptrdiff_t wide, ptrdiff_t rows, double *S,
    ptrdiff_t lds)
{
    ptrdiff_t i = 0;
    for (; i + COLS * LANES <= ldb; i += COLS * LANES)
        NAME(strip)(B + i, ldb, Q, wide, rows, S + i, lds, COLS);
    switch ((ldb - i) / LANES) {
#if COLS > 3
    case 3: NAME(strip)(B + i, ldb, Q, wide, rows, S + i, lds, 3); break;
    case 2: NAME(strip)(B + i, ldb, Q, wide, rows, S + i, lds, 2); break;
#endif
    case 1: NAME(strip)(B + i, ldb, Q, wide, rows, S + i, lds, 1);
    }
}

/* With Q = [d z_first, ..., d z_(first+q-1), d]: S += QᵀB and G += QᵀZ, sums of `chunk` rows made
   in T and added up in double. `room` holds chunk x (PADDED(m) + q + 1) numbers. */
TARGET static void NAME(accumulate)(
    const T *X, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t m, const T *hi, const T *lo, const T *Z,
    ptrdiff_t ldz, ptrdiff_t first, ptrdiff_t q, const double *d, ptrdiff_t chunk, T *room,
    double *S, ptrdiff_t lds, double *G)
{
    const ptrdiff_t ldb = PADDED(m);
    T *B = room, *Q = room + chunk * ldb;
    for (ptrdiff_t r = 0; r < n; r += chunk) {
        ptrdiff_t rows = n - r < chunk ? n - r : chunk;
        for (ptrdiff_t s = 0; s < rows; s++)
            NAME(deviate)(X + (r + s) * ldx, hi, lo, m, ldb, B + s * ldb, 0);
        for (ptrdiff_t s = 0; s < rows; s++) {
            const T *z = Z + (r + s) * ldz + first;
            const T weight = (T)d[r + s];
            T *to = Q + s * (q + 1);
            for (ptrdiff_t j = 0; j < q; j++) to[j] = z[j] * weight;
            to[q] = weight;
        }
        NAME(add_product)(B, ldb, Q, q + 1, rows, S, lds);
        if (ldz) NAME(add_product)(Z + r * ldz, ldz, Q, q + 1, rows, G, ldz);
    }
}

#undef VEC
#undef PADDED
#undef WIDE
