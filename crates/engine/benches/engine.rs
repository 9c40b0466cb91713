//! What the engine adds to a bare process: start to end, an echo through a terminal, and a flood.
//!
//! Prints medians. `cargo bench -p crannog-engine` on a quiet machine; `lineage` as an argument leaves out cgroups.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::cast_precision_loss)]

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::process::{Connection, Program, StartSpec, TerminalSize, WriteSpec};
use crannog_engine::{Engine, EngineConfig};

const FLOOD_BYTES: u64 = 1_000_000_000;

fn main() {
    let cgroups = !std::env::args().any(|argument| argument == "lineage");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let directory = std::env::temp_dir();
        let mut config = EngineConfig::new(format!("bench-{}", std::process::id()), directory, 1);
        config.cgroups = cgroups;
        let engine = Engine::new(config).unwrap();
        println!("tracking: {:?}", engine.tracking());
        let server = engine.clone();
        tokio::spawn(async move { server.serve().await });
        println!("start to end of true, pipes: {:?}", starts(&engine, false).await);
        println!("start to end of true, terminal: {:?}", starts(&engine, true).await);
        println!("echo of a line through cat on a terminal: {:?}", echoes(&engine).await);
        println!("64 starts at once, all ended: {:?}", crowd(&engine).await);
        flood(&engine).await;
        engine.shutdown(Duration::from_millis(100)).await;
    });
}

fn argv(arguments: &[&str]) -> StartSpec {
    StartSpec::new(Program::Argv(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect()))
}

fn collect(until: Until) -> Collect {
    Collect { cursor: None, window: Duration::from_secs(30), until: vec![until], budget: Some(1_000) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn starts(engine: &Engine, on_terminal: bool) -> Duration {
    let mut times = Vec::new();
    for _ in 0..200 {
        let mut spec = argv(&["true"]);
        if on_terminal {
            spec.connection = Connection::Terminal(TerminalSize::default());
        }
        let started = Instant::now();
        let process = engine.start(spec).unwrap();
        assert!(engine.collect(process, collect(Until::Exit)).await.unwrap().end.is_some());
        times.push(started.elapsed());
    }
    median(times)
}

async fn echoes(engine: &Engine) -> Duration {
    let process = engine.start(StartSpec { connection: Connection::Terminal(TerminalSize::default()), ..argv(&["cat"]) }).unwrap();
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        let write = WriteSpec { bytes: b"x\n".to_vec(), write_id: None, patience: Duration::from_secs(1) };
        engine.write(process, write).await.unwrap();
        // The echo and the copy.
        engine.collect(process, collect(Until::Bytes(6))).await.unwrap();
        times.push(started.elapsed());
    }
    engine.kill(process, Duration::ZERO).await.unwrap();
    median(times)
}

async fn crowd(engine: &Engine) -> Duration {
    let started = Instant::now();
    let processes: Vec<_> = (0..64).map(|_| engine.start(argv(&["true"])).unwrap()).collect();
    for process in processes {
        engine.collect(process, collect(Until::Exit)).await.unwrap();
    }
    started.elapsed()
}

async fn flood(engine: &Engine) {
    let command = format!("head -c {FLOOD_BYTES} /dev/zero");
    let started = Instant::now();
    let status = std::process::Command::new("sh").args(["-c", &format!("{command} | cat > /dev/null")]).status();
    println!("1 GB between two processes: {:?} ({:?})", started.elapsed(), status);
    let started = Instant::now();
    let process = engine.start(argv(&["sh", "-c", &command])).unwrap();
    let update = loop {
        let update = engine.collect(process, collect(Until::Exit)).await.unwrap();
        if update.end.is_some() {
            break update;
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    println!("1 GB through a pipe: {seconds:.2} s, {:.2} GB/s, {} bytes lost", FLOOD_BYTES as f64 / seconds / 1e9, update.lost_bytes);
}
