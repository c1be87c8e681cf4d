//! Optimal one-to-one assignment (Kuhn-Munkres with potentials, O(n³)).

/// Pairs rows with columns so that the sum of `value` is greatest; `None` forbids a pair. Every pair's
/// value must be positive. Gives `(row, column)` in row order.
pub(super) fn linear_sum_assignment(
    rows: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    // Square, one-based; what is forbidden or padding costs nothing and is filtered at the end.
    let n = rows.max(columns);
    // (Each value is asked for once: it is an overlap of boxes and a cosine.)
    let values: Vec<Option<f64>> = (0..rows)
        .flat_map(|i| (0..columns).map(move |j| (i, j)))
        .map(|(i, j)| value(i, j))
        .collect();
    let value = |i: usize, j: usize| values[i * columns + j];
    let cost = |i: usize, j: usize| {
        if i <= rows && j <= columns { -value(i - 1, j - 1).unwrap_or(0.0) } else { 0.0 }
    };
    let mut row_potential = vec![0.0f64; n + 1];
    let mut column_potential = vec![0.0f64; n + 1];
    let mut row_of = vec![0usize; n + 1];
    for row in 1..=n {
        let mut way = vec![0usize; n + 1];
        let mut slack = vec![f64::INFINITY; n + 1];
        let mut used = vec![false; n + 1];
        let mut column = 0;
        row_of[0] = row;
        while row_of[column] != 0 {
            used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for j in (1..=n).filter(|j| !used[*j]) {
                let reduced = cost(current, j) - row_potential[current] - column_potential[j];
                if reduced < slack[j] {
                    (slack[j], way[j]) = (reduced, column);
                }
                if slack[j] < delta {
                    (delta, next) = (slack[j], j);
                }
            }
            for j in 0..=n {
                if used[j] {
                    row_potential[row_of[j]] += delta;
                    column_potential[j] -= delta;
                } else {
                    slack[j] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[way[column]];
            column = way[column];
        }
    }
    let mut pairs: Vec<(usize, usize)> = (1..=columns)
        .filter(|&j| row_of[j] >= 1 && row_of[j] <= rows)
        .map(|j| (row_of[j] - 1, j - 1))
        .filter(|&(i, j)| value(i, j).is_some())
        .collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The best total over all ways to pair, by trying them.
    fn best(rows: usize, columns: usize, table: &[Option<f64>], taken: u32, row: usize) -> f64 {
        if row == rows {
            return 0.0;
        }
        let skip = best(rows, columns, table, taken, row + 1);
        (0..columns)
            .filter(|j| taken & (1 << j) == 0)
            .filter_map(|j| {
                table[row * columns + j]
                    .map(|v| v + best(rows, columns, table, taken | (1 << j), row + 1))
            })
            .fold(skip, f64::max)
    }

    proptest! {
        #[test]
        fn the_total_is_the_greatest_possible(
            rows in 0usize..5, columns in 0usize..5,
            table in proptest::collection::vec(proptest::option::of(0.01f64..2.0), 25)
        ) {
            let pairs = linear_sum_assignment(rows, columns, |i, j| table[i * columns + j]);
            let total: f64 = pairs.iter().filter_map(|&(i, j)| table[i * columns + j]).sum();
            prop_assert!((total - best(rows, columns, &table, 0, 0)).abs() < 1e-9);
            let mut seen: Vec<usize> = pairs.iter().map(|p| p.1).collect();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), pairs.len());
        }
    }
}
