//! `cargo xtask realplane`: the genuine etcd, kube-apiserver and kube-controller-manager, built from their Go modules
//! and started on loopback. Not here: what is asked of them (`flyball-conform`).

mod processes;

use std::fs::{self, File};
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::{golang, project};
use processes::Processes;

const KUBERNETES_VERSION: &str = "v1.37.2";
/// The programs, and what stands in their place in a command line.
const PROGRAMS: [&str; 4] = ["etcd", "key", "kube-apiserver", "kube-controller-manager"];
/// How long a server may take to be ready, in tries a quarter of a second apart.
const READY_TRIES: usize = 480;

const USAGE: &str = "usage: cargo xtask realplane build | up [CONTROLLER,...] | down";

pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    match args {
        ["build"] => println!("{}", build()?.display()),
        ["up"] => println!("{}", up("")?.display()),
        ["up", controllers] => println!("{}", up(controllers)?.display()),
        ["down"] => down()?,
        _ => bail!(USAGE),
    }
    Ok(ExitCode::SUCCESS)
}

fn home() -> PathBuf {
    project::root().join("target/realplane")
}

fn modules() -> PathBuf {
    project::root().join("conformance/realplane")
}

/// Builds the programs, unless the modules are those they were built from. Returns their folder.
pub(crate) fn build() -> Result<PathBuf> {
    let bin = home().join("bin");
    let mut pins = KUBERNETES_VERSION.to_owned();
    for file in [
        "kube/go.mod",
        "kube/go.sum",
        "etcd/go.mod",
        "etcd/go.sum",
        "etcd/main.go",
        "etcd/key/main.go",
    ] {
        pins.push_str(&fs::read_to_string(modules().join(file))?);
    }
    let stamp = home().join("built-from");
    let built = PROGRAMS.iter().all(|program| bin.join(program).exists());
    if built && fs::read_to_string(&stamp).is_ok_and(|from| from == pins) {
        return Ok(bin);
    }
    fs::create_dir_all(&bin)?;
    println!(
        "realplane: building etcd and Kubernetes {KUBERNETES_VERSION}; the first time takes some minutes"
    );
    let package = "k8s.io/component-base/version";
    let flags = format!(
        "-s -w -X {package}.gitVersion={KUBERNETES_VERSION} -X {package}.gitMajor=1 -X {package}.gitMinor=37"
    );
    let kube = modules().join("kube");
    for program in ["kube-apiserver", "kube-controller-manager"] {
        let path = format!("k8s.io/kubernetes/cmd/{program}");
        golang::build(&kube, &path, &flags, &bin.join(program))?;
    }
    let etcd = modules().join("etcd");
    golang::build(&etcd, ".", "-s -w", &bin.join("etcd"))?;
    golang::build(&etcd, "./key", "-s -w", &bin.join("key"))?;
    fs::write(stamp, pins)?;
    Ok(bin)
}

/// Stops what runs, starts etcd and kube-apiserver, with `controllers` also kube-controller-manager, and returns the
/// file that tells where they are.
pub(crate) fn up(controllers: &str) -> Result<PathBuf> {
    let bin = build()?;
    down()?;
    let run = home().join("run");
    fs::create_dir_all(&run)?;
    let ports = free_ports()?;
    let tokens = Tokens {
        admin: random_word()?,
        controllers: random_word()?,
    };
    let users = format!(
        "{},admin,admin,\"system:masters\"\n{},system:kube-controller-manager,system:kube-controller-manager,\"system:masters\"\n",
        tokens.admin, tokens.controllers
    );
    fs::write(run.join("tokens.csv"), users)?;
    let key = project::stdout(&mut Command::new(bin.join("key")))?;
    fs::write(run.join("accounts.key"), key)?;

    let mut processes = Processes::new(&run);
    let started = start(&mut processes, &bin, &run, &ports)
        .and_then(|()| describe(&run, &ports, &tokens))
        .and_then(|()| {
            if controllers.is_empty() {
                return Ok(());
            }
            start_controllers(&mut processes, &bin, &run, controllers)
        });
    if let Err(error) = started {
        processes.stop();
        return Err(error);
    }
    Ok(run.join("state.json"))
}

/// Stops what [`up`] has started, if anything.
pub(crate) fn down() -> Result<()> {
    let run = home().join("run");
    Processes::remembered(&run).stop();
    match fs::remove_dir_all(&run) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", run.display()))
        }
        _ => Ok(()),
    }
}

struct Tokens {
    admin: String,
    controllers: String,
}

struct Ports {
    api: u16,
    etcd: u16,
    peer: u16,
}

/// Ports nobody listens on now. Somebody else may take one before it is used: the start then fails and says so.
fn free_ports() -> Result<Ports> {
    let listeners = [(); 3].map(|()| TcpListener::bind(("127.0.0.1", 0)));
    let mut ports = Vec::new();
    for listener in &listeners {
        let listener = listener
            .as_ref()
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        ports.push(listener.local_addr()?.port());
    }
    Ok(Ports {
        api: ports[0],
        etcd: ports[1],
        peer: ports[2],
    })
}

fn random_word() -> Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_be_bytes(bytes)).map(|word| format!("{word:032x}"))
}

fn start(processes: &mut Processes, bin: &Path, run: &Path, ports: &Ports) -> Result<()> {
    let (client, peer) = (
        format!("http://127.0.0.1:{}", ports.etcd),
        format!("http://127.0.0.1:{}", ports.peer),
    );
    let mut etcd = Command::new(bin.join("etcd"));
    etcd.arg("--name=real")
        .arg(format!("--data-dir={}", run.join("etcd").display()))
        .arg("--unsafe-no-fsync")
        .arg(format!("--listen-client-urls={client}"))
        .arg(format!("--advertise-client-urls={client}"))
        .arg(format!("--listen-peer-urls={peer}"))
        .arg(format!("--initial-advertise-peer-urls={peer}"))
        .arg(format!("--initial-cluster=real={peer}"))
        .arg("--log-level=warn");
    processes.start("etcd", &mut etcd)?;
    let mut api = Command::new(bin.join("kube-apiserver"));
    api.arg(format!("--etcd-servers={client}"))
        .arg("--bind-address=127.0.0.1")
        .arg("--advertise-address=127.0.0.1")
        .arg(format!("--secure-port={}", ports.api))
        .arg(format!("--cert-dir={}", run.join("pki").display()))
        .arg(format!(
            "--token-auth-file={}",
            run.join("tokens.csv").display()
        ))
        .arg("--authorization-mode=RBAC")
        .arg("--anonymous-auth=false")
        .arg("--service-account-issuer=https://kubernetes.default.svc")
        .arg("--service-cluster-ip-range=10.96.0.0/16")
        // There is no address that is not of this host, and none is needed.
        .arg("--endpoint-reconciler-type=none");
    for flag in [
        "--service-account-key-file",
        "--service-account-signing-key-file",
    ] {
        api.arg(format!("{flag}={}", run.join("accounts.key").display()));
    }
    processes.start("kube-apiserver", &mut api)?;
    processes.wait("kube-apiserver", READY_TRIES, || {
        // It writes its certificate before it listens, and answers 401 as soon as it does.
        run.join("pki/apiserver.crt").exists()
            && std::net::TcpStream::connect(("127.0.0.1", ports.api)).is_ok()
    })
}

/// Writes the kubeconfigs and the state file.
fn describe(run: &Path, ports: &Ports, tokens: &Tokens) -> Result<()> {
    let url = format!("https://127.0.0.1:{}", ports.api);
    let ca = run.join("pki/apiserver.crt");
    let kubeconfig = |token: &str| {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "real",
            "clusters": [{"name": "real", "cluster": {"server": url, "certificate-authority": ca}}],
            "users": [{"name": "user", "user": {"token": token}}],
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": "user"}}],
        })
        .to_string()
    };
    let admin = run.join("kubeconfig");
    fs::write(&admin, kubeconfig(&tokens.admin))?;
    fs::write(
        run.join("controllers.kubeconfig"),
        kubeconfig(&tokens.controllers),
    )?;
    let state = json!({
        "url": url,
        "token": tokens.admin,
        "ca_file": ca,
        "kubeconfig": admin,
        "etcd": format!("http://127.0.0.1:{}", ports.etcd),
    });
    fs::write(run.join("state.json"), format!("{state:#}\n"))?;
    Ok(())
}

fn start_controllers(
    processes: &mut Processes,
    bin: &Path,
    run: &Path,
    controllers: &str,
) -> Result<()> {
    let mut command = Command::new(bin.join("kube-controller-manager"));
    command
        .arg(format!(
            "--kubeconfig={}",
            run.join("controllers.kubeconfig").display()
        ))
        .arg(format!("--controllers={controllers}"))
        .arg("--leader-elect=false")
        .arg("--bind-address=127.0.0.1")
        .arg("--secure-port=0")
        .arg(format!(
            "--service-account-private-key-file={}",
            run.join("accounts.key").display()
        ))
        .arg(format!(
            "--root-ca-file={}",
            run.join("pki/apiserver.crt").display()
        ));
    processes.start("kube-controller-manager", &mut command)?;
    std::thread::sleep(Duration::from_secs(1));
    processes.wait("kube-controller-manager", 1, || true)
}
