//! Optimal one-to-one assignment (Hungarian method, Kuhn 1955, in the O(n³) form of Jonker and Volgenant).

/// For each row the column that makes the total gain greatest; `None` where there are fewer columns or the
/// gain is 0. `gain` is `[rows][columns]`, not negative.
#[must_use]
pub fn best(gain: &[Vec<f64>]) -> Vec<Option<usize>> {
    let rows = gain.len();
    let columns = gain.iter().map(Vec::len).max().unwrap_or(0);
    let n = rows.max(columns);
    let cost = |r: usize, c: usize| -gain.get(r).and_then(|row| row.get(c)).copied().unwrap_or(0.0);
    // potentials and matching are 1-based, 0 is the virtual start
    let (mut u, mut v) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_of = vec![0usize; n + 1];
    for row in 1..=n {
        let mut way = vec![0usize; n + 1];
        let mut least = vec![f64::INFINITY; n + 1];
        let mut used = vec![false; n + 1];
        row_of[0] = row;
        let mut at = 0;
        loop {
            used[at] = true;
            let (r, mut delta, mut next) = (row_of[at], f64::INFINITY, 0);
            for c in 1..=n {
                if used[c] {
                    continue;
                }
                let reduced = cost(r - 1, c - 1) - u[r] - v[c];
                if reduced < least[c] {
                    least[c] = reduced;
                    way[c] = at;
                }
                if least[c] < delta {
                    delta = least[c];
                    next = c;
                }
            }
            for c in 0..=n {
                if used[c] {
                    u[row_of[c]] += delta;
                    v[c] -= delta;
                } else {
                    least[c] -= delta;
                }
            }
            at = next;
            if row_of[at] == 0 {
                break;
            }
        }
        while at != 0 {
            row_of[at] = row_of[way[at]];
            at = way[at];
        }
    }
    let mut assigned = vec![None; rows];
    for (c, row) in row_of.iter().enumerate().skip(1) {
        let r = row - 1;
        if r < rows && c <= columns && cost(r, c - 1) < 0.0 {
            assigned[r] = Some(c - 1);
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// The greatest total over all ways to pair, by trying them.
    fn greatest(gain: &[Vec<f64>], taken: u32) -> f64 {
        let Some((row, rest)) = gain.split_first() else { return 0.0 };
        let free = row.iter().enumerate().filter(|(column, _)| taken & (1 << column) == 0);
        free.map(|(column, gain)| gain + greatest(rest, taken | (1 << column)))
            .fold(greatest(rest, taken), f64::max)
    }

    proptest! {
        #[test]
        fn the_total_is_the_greatest_possible(
            rows in 0_usize..=5, columns in 0_usize..=5,
            // whole numbers: many pairings are equally good
            table in proptest::collection::vec((0_u32..6).prop_map(f64::from), 25)
        ) {
            let gain: Vec<Vec<f64>> =
                (0..rows).map(|row| table[row * 5..][..columns].to_vec()).collect();
            let assigned = super::best(&gain);
            prop_assert_eq!(assigned.len(), rows);
            let pairs: Vec<(usize, usize)> = assigned
                .iter()
                .enumerate()
                .filter_map(|(row, column)| Some((row, (*column)?)))
                .collect();
            prop_assert!(pairs.iter().all(|(row, column)| gain[*row][*column] > 0.0));
            let total: f64 = pairs.iter().map(|(row, column)| gain[*row][*column]).sum();
            prop_assert!((total - greatest(&gain, 0)).abs() < 1e-9, "{gain:?} {assigned:?}");
            let mut columns: Vec<usize> = pairs.iter().map(|(_, column)| *column).collect();
            columns.sort_unstable();
            columns.dedup();
            prop_assert_eq!(columns.len(), pairs.len());
        }
    }

    #[test]
    fn greedy_would_lose() {
        let gain = vec![vec![5.0, 4.0], vec![4.5, 1.0], vec![0.0, 0.0]];
        assert_eq!(super::best(&gain), [Some(1), Some(0), None]);
        assert!(super::best(&[]).is_empty());
    }
}
