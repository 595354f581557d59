//! Serves a plane from a folder until it is killed: `cargo run -p flyball-plane --example serve -- FOLDER`.

use flyball_clock::Clock;
use flyball_plane::{Config, Plane};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: serve FOLDER")?;
    let plane = Plane::open(Config::in_folder(folder.into(), 1), Clock::system()).await?;
    let listener = plane.bind().await?;
    plane.serve(listener).await?;
    Ok(())
}
