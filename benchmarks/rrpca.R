# R's randomized rrpca on the square case of benchmarks/pursuit.py (1000x1000, rank 20, a tenth of
# the entries wrong): seconds, and the error of L. Needs the R package rsvd.
#
#     Rscript benchmarks/rrpca.R
library(rsvd)
set.seed(0)
n <- 1000
r <- 20
L <- matrix(rnorm(n * r), n) %*% matrix(rnorm(r * n), r)
wrong <- matrix(runif(n * n), n) < 0.1
S <- ifelse(wrong, 10 * runif(n * n) * sample(c(-1, 1), n * n, TRUE), 0)
seconds <- system.time(found <- rrpca(L + S))["elapsed"]
cat(sprintf("rrpca %.2f s, error of L %.1e\n", seconds, norm(found$L - L, "F") / norm(L, "F")))
