//! Making and destroying a sandbox. The reference's session is a directory; ours has a guest process, a record that survives a crash and a
//! lease.

use std::time::Instant;

use anyhow::Result;

use crate::bench::{Bench, ms_since};
use crate::reference::figure;
use crate::report::{Row, Target};
use crate::statistics::Samples;

const TARGET_MS: f64 = 3.0;
/// Samples of crannog for one of the reference.
const BATCH: usize = 5;

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let (mut created, mut destroyed) = (Samples::default(), Samples::default());
    let (mut their_created, mut their_destroyed) = (Samples::default(), Samples::default());
    let mut reference = bench.reference("create", &[])?;
    // The first one opens the store.
    bench.sandbox().await?.destroy().await?;
    for _ in 0..bench.amount(40, 6) {
        for _ in 0..BATCH {
            let began = Instant::now();
            let sandbox = bench.sandbox().await?;
            created.push(ms_since(began));
            let began = Instant::now();
            sandbox.destroy().await?;
            destroyed.push(ms_since(began));
        }
        if let Some(reference) = &mut reference {
            let sample = reference.sample()?;
            their_created.push(figure(&sample, "create_ms")?);
            their_destroyed.push(figure(&sample, "destroy_ms")?);
        }
    }
    Ok(vec![
        Row::lower("sandbox create", "ms", &created).reference(&their_created).target(Target::AtMost(TARGET_MS)),
        Row::lower("sandbox destroy", "ms", &destroyed).reference(&their_destroyed),
    ])
}
