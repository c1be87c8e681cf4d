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
    #[test]
    fn greedy_would_lose() {
        let gain = vec![vec![5.0, 4.0], vec![4.5, 1.0], vec![0.0, 0.0]];
        assert_eq!(super::best(&gain), [Some(1), Some(0), None]);
        assert!(super::best(&[]).is_empty());
    }
}
