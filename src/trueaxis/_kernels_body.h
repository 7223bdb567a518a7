/* The two products of a sweep for one pair of types and one width of vectors.

   Included once for each pair and instruction set, with these macros set:
     ROW    float or double: what the rows and the center are
     T      float or double, no wider than ROW: what is multiplied
     NAME(x)  the function's name for these types and this instruction set
     TARGET   the attribute that lets the compiler use the instruction set
     BYTES  in a vector of T
     ROWS, WIDTH  rows, and vectors of columns of P, that are projected at once:
                  ROWS x WIDTH + WIDTH + 1 vectors fit the registers
     WIDE   columns of Q that are accumulated at once, with two vectors of columns of B:
            2 WIDE + 3 vectors likewise

   Vectors are GCC's and Clang's portable ones; there are no intrinsics. None reads past the end
   of a row of X: the last one ends with the row, covers again some of the one before it, and
   what it repeats is dropped. */

#define LANES ((ptrdiff_t)(BYTES / sizeof(T)))
#define FOLDED ((ROWS + LANES - 1) / LANES * LANES)
typedef T NAME(vec) __attribute__((vector_size(BYTES), aligned(sizeof(T))));
typedef ROW NAME(row)
    __attribute__((vector_size(BYTES / sizeof(T) * sizeof(ROW)), aligned(sizeof(ROW))));
typedef T NAME(part) __attribute__((vector_size(BYTES / 8 * sizeof(T)), aligned(sizeof(T))));
typedef double NAME(sums) __attribute__((vector_size(BYTES), aligned(8)));
typedef __typeof__((NAME(vec)){0} < (NAME(vec)){0}) NAME(mask);
#define VEC NAME(vec)
#define MASK NAME(mask)
#define INLINE TARGET static inline __attribute__((always_inline))

/* x - hi - lo for LANES columns of a row, made in ROW and rounded to T. */
INLINE VEC NAME(deviations)(const ROW *x, const ROW *hi, const ROW *lo)
{
    NAME(row) u = *(const NAME(row) *)x - *(const NAME(row) *)hi;
    if (lo) u -= *(const NAME(row) *)lo;
    return __builtin_convertvector(u, VEC);
}

/* v in the lanes from `first` to `end` - 1, zeros in the others. */
INLINE VEC NAME(keep)(VEC v, ptrdiff_t first, ptrdiff_t end)
{
    VEC lane;
    for (int l = 0; l < LANES; l++) lane[l] = (T)l;
    return (VEC)((MASK)v & (lane >= (T)first) & (lane < (T)end));
}

/* Sums of two lanes whose numbers differ in the bit `half`: v's where it is set, u's elsewhere. */
INLINE VEC NAME(halves)(VEC u, VEC v, const int half)
{
    MASK s, t;
#ifdef __clang__
    for (int l = 0; l < LANES; l++) {
        s[l] = l & half ? ((MASK)v)[l ^ half] : ((MASK)u)[l];
        t[l] = l & half ? ((MASK)v)[l] : ((MASK)u)[l ^ half];
    }
    return (VEC)s + (VEC)t;
#else
    for (int l = 0; l < LANES; l++) {
        s[l] = l & half ? LANES + (l ^ half) : l;
        t[l] = l & half ? LANES + l : l ^ half;
    }
    return __builtin_shuffle(u, v, s) + __builtin_shuffle(u, v, t);
#endif
}

/* Writes the sums of the numbers of a[0], a[1], ..., of at most LANES vectors. */
INLINE void NAME(fold)(VEC *a, ptrdiff_t vectors, double *to)
{
#define HALVE(half)     \
    if (LANES > half)   \
        for (int i = 0; i < half; i++) a[i] = NAME(halves)(a[i], a[i + half], half);
    HALVE(8) HALVE(4) HALVE(2) HALVE(1)
#undef HALVE
    for (int l = 0; l < LANES && l < vectors; l++) to[l] = a[0][l];
}

/* b <- x - hi - lo for m columns of one row; returns the sums of squares, lane by lane. */
INLINE VEC NAME(deviate)(const ROW *x, const ROW *hi, const ROW *lo, ptrdiff_t m, T *b)
{
    VEC sum = {0}, second = {0};
    ptrdiff_t i = 0;
    for (; i + 2 * LANES <= m; i += 2 * LANES) {
        VEC u = NAME(deviations)(x + i, hi + i, lo ? lo + i : NULL);
        VEC v = NAME(deviations)(x + i + LANES, hi + i + LANES, lo ? lo + i + LANES : NULL);
        *(VEC *)(b + i) = u;
        *(VEC *)(b + i + LANES) = v;
        sum += u * u;
        second += v * v;
    }
    for (; i < m && m >= LANES; i += LANES) {
        const ptrdiff_t at = i < m - LANES ? i : m - LANES;
        VEC u = NAME(deviations)(x + at, hi + at, lo ? lo + at : NULL);
        *(VEC *)(b + at) = u;
        u = NAME(keep)(u, i - at, LANES);
        second += u * u;
    }
    for (; i < m; i++) {
        b[i] = (T)(lo ? x[i] - hi[i] - lo[i] : x[i] - hi[i]);
        sum[0] += b[i] * b[i];
    }
    return sum + second;
}

/* The squares of the first `count` numbers of z, whole vectors of which can be read. */
INLINE VEC NAME(squared)(const T *z, ptrdiff_t count)
{
    VEC sum = {0};
    for (ptrdiff_t j = 0; j < count; j += LANES) {
        VEC u = NAME(keep)(*(const VEC *)(z + j), 0, count - j);
        sum += u * u;
    }
    return sum;
}

/* Z <- B P for `rows` rows and `width` vectors of columns (constants).

   Meanwhile the memory from `next` on, rows of X that come later, is asked for: the loop has
   nothing else to wait for, and the main memory is the slowest thing in a sweep. */
INLINE void NAME(multiply)(
    const T *b, ptrdiff_t ldb, const T *p, ptrdiff_t ldp, ptrdiff_t m, T *z, const char *next,
    const int rows, const int width)
{
    VEC acc[ROWS][WIDTH];
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++) acc[r][w] = (VEC){0};
    for (ptrdiff_t i = 0; i < m; i++) {
        VEC q[WIDTH];
        for (int w = 0; w < width; w++) q[w] = *(const VEC *)(p + i * ldp + w * LANES);
        __builtin_prefetch(next + i * (ptrdiff_t)(ROWS * sizeof(ROW)), 0, 2);
        _Pragma("GCC unroll 8")
        for (int r = 0; r < rows; r++) {
            T x = b[r * ldb + i];
            for (int w = 0; w < width; w++) acc[r][w] += q[w] * x;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++) *(VEC *)(z + r * ldp + w * LANES) = acc[r][w];
}

/* The same for all columns of P, in groups of vectors as equal as can be. */
INLINE void NAME(multiply_all)(
    const T *b, ptrdiff_t ldb, const T *P, ptrdiff_t ldp, ptrdiff_t m, T *z, const char *next,
    const int rows)
{
    ptrdiff_t j = 0;
    for (ptrdiff_t groups = (ldp / LANES + WIDTH - 1) / WIDTH; groups; groups--) {
        const ptrdiff_t width = ((ldp - j) / LANES + groups - 1) / groups;
        switch (width) {
#if WIDTH > 2
        case 3: NAME(multiply)(b, ldb, P + j, ldp, m, z + j, next, rows, 3); break;
#endif
        case 2: NAME(multiply)(b, ldb, P + j, ldp, m, z + j, next, rows, 2); break;
        case 1: NAME(multiply)(b, ldb, P + j, ldp, m, z + j, next, rows, 1);
        }
        j += width * LANES;
    }
}

TARGET static void NAME(project)(
    const void *given, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t m, const void *hi, const void *lo,
    const void *P, ptrdiff_t ldp, ptrdiff_t inner, void *room, void *scores, double *squares,
    double *inside)
{
    const ptrdiff_t ldb = (m + LANES - 1) / LANES * LANES;
    const ROW *X = given;
    T *b = room, *Z = scores;
    VEC u[FOLDED], v[FOLDED];
    for (int s = 0; s < FOLDED; s++) u[s] = v[s] = (VEC){0};
    for (ptrdiff_t r = 0; r < n; r += ROWS, X += ROWS * ldx, Z += ROWS * ldp) {
        const int rows = n - r < ROWS ? (int)(n - r) : ROWS;
        const char *next = (const char *)(X + AHEAD * ROWS * ldx);
        for (int s = 0; s < rows; s++) u[s] = NAME(deviate)(X + s * ldx, hi, lo, m, b + s * ldb);
        if (rows == ROWS)
            NAME(multiply_all)(b, ldb, P, ldp, m, Z, next, ROWS);
        else
            for (int s = 0; s < rows; s++)
                NAME(multiply_all)(b + s * ldb, ldb, P, ldp, m, Z + s * ldp, next, 1);
        for (int s = 0; s < rows; s++) v[s] = NAME(squared)(Z + s * ldp, inner);
        for (int s = 0; s < rows; s += LANES) {
            NAME(fold)(u + s, rows - s, squares + r + s);
            NAME(fold)(v + s, rows - s, inside + r + s);
        }
    }
}

/* s += v. In steps of one register: GCC 12 does not keep the order of overlapping vectors that
   are wider. */
INLINE void NAME(add)(double *s, VEC v)
{
    T part[LANES];
    memcpy(part, &v, sizeof v);
    for (size_t i = 0; i < BYTES / sizeof(T); i += BYTES / 8)
        *(NAME(sums) *)(s + i) +=
            __builtin_convertvector(*(const NAME(part) *)(part + i), NAME(sums));
}

/* S[j, i] += sum_r Q[r, j] B[r, i] for `wide` values of j and `cols` vectors of i (constants),
   the last of them `step` after the first and without its first `skip` columns. B is X - hi - lo,
   or else, `centered` (a constant) being 0, what is given; what lies `ahead` is asked for. */
INLINE void NAME(gather)(
    const void *given, ptrdiff_t ld, const ROW *hi, const ROW *lo, ptrdiff_t step, ptrdiff_t skip,
    ptrdiff_t ahead, const T *q, ptrdiff_t ldq, ptrdiff_t rows, double *s, ptrdiff_t lds,
    const int centered, const int cols, const int wide)
{
    VEC acc[WIDE][2];
    for (int j = 0; j < wide; j++)
        for (int c = 0; c < cols; c++) acc[j][c] = (VEC){0};
    for (ptrdiff_t r = 0; r < rows; r++) {
        const ROW *x = (const ROW *)given + r * ld;
        VEC b[2];
        for (int c = 0; c < cols; c++)
            b[c] = centered ? NAME(deviations)(x + c * step, hi + c * step, lo ? lo + c * step : lo)
                            : *(const VEC *)((const T *)given + r * ld + c * step);
        if (ahead)
            for (ptrdiff_t l = 0; l < cols * LANES; l += LINE / sizeof(ROW))
                __builtin_prefetch(x + ahead + l, 0, 2);
        for (int j = 0; j < wide; j++) {
            T y = q[r * ldq + j];
            for (int c = 0; c < cols; c++) acc[j][c] += b[c] * y;
        }
    }
    for (int j = 0; j < wide; j++)
        for (int c = 0; c < cols; c++) {
            VEC sum = c == cols - 1 ? NAME(keep)(acc[j][c], skip, LANES) : acc[j][c];
            NAME(add)(s + j * lds + c * step, sum);
        }
}

/* S += QᵀB for `rows` rows and m >= LANES columns, S in double, with lds numbers a row. */
INLINE void NAME(add_product)(
    const void *given, ptrdiff_t ld, ptrdiff_t m, const ROW *hi, const ROW *lo, const T *Q,
    ptrdiff_t ldq, ptrdiff_t rows, double *S, ptrdiff_t lds, const int centered)
{
    const ptrdiff_t span = (m + 2 * LANES - 1) / (2 * LANES) * 2 * LANES;
    for (ptrdiff_t i = 0; i < m; i += 2 * LANES) {
        const int cols = i + LANES < m ? 2 : 1;
        const ptrdiff_t end = i + cols * LANES, last = (end < m ? end : m) - LANES;
        const ptrdiff_t at = cols > 1 ? i : last, skip = end - LANES - last;
        const ptrdiff_t later = i + BEYOND / (ptrdiff_t)sizeof(ROW);
        const char *b = (const char *)given + at * (centered ? sizeof(ROW) : sizeof(T));
        const ROW *h = centered ? hi + at : NULL, *l = lo ? lo + at : NULL;
        ptrdiff_t ahead = centered ? later % span - later / span * CHUNK * ld - at : 0, j = 0;
        for (ptrdiff_t groups = (ldq + WIDE - 1) / WIDE; groups; groups--, ahead = 0) {
            const ptrdiff_t wide = (ldq - j + groups - 1) / groups;
            double *s = S + j * lds + at;
#define GATHER(cols, w)                                                                         \
    NAME(gather)(b, ld, h, l, last - at, skip, ahead, Q + j, ldq, rows, s, lds, centered, cols, w)
#define CASE(w)                 \
    case w:                     \
        if (w > WIDE) break;    \
        if (cols > 1)           \
            GATHER(2, w);       \
        else                    \
            GATHER(1, w);       \
        break;
            switch (wide) { CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
                            CASE(9) CASE(10) CASE(11) CASE(12) }
#undef CASE
#undef GATHER
            j += wide;
        }
    }
}

TARGET static void NAME(add_plain)(const T *B, ptrdiff_t m, const T *Q, ptrdiff_t ldq,
                                   ptrdiff_t rows, double *S, ptrdiff_t lds)
{
    NAME(add_product)(B, m, m, NULL, NULL, Q, ldq, rows, S, lds, 0);
}

/* With Q = [d z_first, ..., d z_(first+q-1), d]: S += QᵀB and G += QᵀZ, sums of CHUNK rows made
   in T and added up in double. It begins with the last rows, which `project` left in the cache. */
TARGET static void NAME(accumulate)(
    const void *given, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t m, const void *hi, const void *lo,
    const void *scores, ptrdiff_t ldz, ptrdiff_t first, ptrdiff_t q, const double *d, void *room,
    double *S, ptrdiff_t lds, double *G)
{
    const ptrdiff_t ldq = q + 1;
    T *B = room, *Q = B + CHUNK * LANES;
    for (ptrdiff_t r = (n - 1) / CHUNK * CHUNK; r >= 0; r -= CHUNK) {
        const ROW *X = (const ROW *)given + r * ldx;
        const T *Z = (const T *)scores + r * ldz;
        const ptrdiff_t rows = n - r < CHUNK ? n - r : CHUNK;
        for (ptrdiff_t s = 0; s < rows; s++) {
            const T weight = (T)d[r + s];
            for (ptrdiff_t j = 0; j < q; j++) Q[s * ldq + j] = Z[s * ldz + first + j] * weight;
            Q[s * ldq + q] = weight;
        }
        if (m >= LANES)
            NAME(add_product)(X, ldx, m, hi, lo, Q, ldq, rows, S, lds, 1);
        else {
            for (ptrdiff_t s = 0; s < rows; s++)
                NAME(deviate)(X + s * ldx, hi, lo, m, B + s * LANES);
            NAME(add_plain)(B, LANES, Q, ldq, rows, S, lds);
        }
        if (ldz) NAME(add_plain)(Z, ldz, Q, ldq, rows, G, ldz);
    }
}

#undef LANES
#undef FOLDED
#undef INLINE
#undef VEC
#undef MASK
#undef ROW
#undef T
#undef TYPE
