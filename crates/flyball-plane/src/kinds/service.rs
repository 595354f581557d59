//! core/v1 Service, as a stored object: addresses and node ports are allocated, and nothing is balanced.
//! Source: registry/core/service/{strategy.go,storage/alloc.go}, core/v1 defaults.go `SetDefaults_Service`.

use flyball_api::name;
use serde_json::{Map, Value, json};

use crate::field::{self, FieldError};
use crate::kind::{DeleteAnswer, Kind, PutRule, Strategy, Surroundings};
use crate::metadata;
use crate::object::{self, default_field};
use crate::refusal::Refusal;

#[derive(Debug)]
struct Service;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "Service", Service)
        .short(&["svc"])
        .in_all()
        .with_status();
    Kind {
        delete: DeleteAnswer::Object,
        put: PutRule::UnconditionalOrCreate,
        ..kind
    }
}

impl Strategy for Service {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        if spec
            .get("selector")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            spec.remove("selector");
        }
        default_field(spec, "type", "ClusterIP");
        default_field(spec, "sessionAffinity", "None");
        if spec.get("type").and_then(Value::as_str) != Some("ExternalName") {
            default_field(spec, "internalTrafficPolicy", "Cluster");
        }
        for port in spec
            .get_mut("ports")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let number = port.get("port").cloned().unwrap_or_else(|| 0.into());
            let port = object::fields(port);
            default_field(port, "protocol", "TCP");
            default_field(port, "targetPort", number);
        }
        if is_outside(spec) {
            default_field(spec, "externalTrafficPolicy", "Cluster");
        }
        if spec.get("type").and_then(Value::as_str) == Some("LoadBalancer") {
            default_field(spec, "allocateLoadBalancerNodePorts", true);
        }
    }

    fn admit(&self, object: &mut Value, around: &Surroundings<'_>) -> Result<(), Refusal> {
        let others = || {
            around
                .objects("services")
                .filter_map(|other| other.get("spec"))
        };
        allocate(object::child(object, "spec"), others, |end| {
            around.number_below(end)
        });
        Ok(())
    }

    fn prepare_update(&self, object: &mut Value, old: &Value) {
        keep_allocated(object, old);
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"loadBalancer": {}}))
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let spec = object.get("spec").cloned().unwrap_or_default();
        let text = |field: &str| {
            spec.get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let ports = spec
            .get("ports")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let mut errors = Vec::new();
        if ports.is_empty() && text("clusterIP") != "None" && text("type") != "ExternalName" {
            errors.push(field::required("spec.ports", ""));
        }
        for (index, port) in ports.iter().enumerate() {
            if ports.len() > 1 && port.get("name").is_none() {
                errors.push(field::required(format!("spec.ports[{index}].name"), ""));
            }
            errors.extend(["port", "targetPort"].into_iter().filter_map(|which| {
                let number = port.get(which).map_or(Some(0), Value::as_i64)?;
                let path = format!("spec.ports[{index}].{which}");
                let detail = "must be between 1 and 65535, inclusive";
                (!(1..=65535).contains(&number)).then(|| field::invalid(path, number, detail))
            }));
        }
        errors.extend(metadata::labels("spec.selector", spec.get("selector")));
        errors
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::dns_label
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["spec.clusterIP", "spec.type"]
    }
}

/// The range of cluster addresses, 10.96.0.0/16, without its first and last. Upstream: `--service-cluster-ip-range`.
const ADDRESSES: u32 = 65_534;
/// The range of node ports. Upstream: `--service-node-port-range`.
const NODE_PORTS: std::ops::Range<u32> = 30_000..32_768;
/// What is allocated, or follows from it, and stays when an update does not name it.
const ALLOCATED: [&str; 5] = [
    "clusterIP",
    "clusterIPs",
    "ipFamilies",
    "ipFamilyPolicy",
    "healthCheckNodePort",
];

fn text<'a>(spec: &'a Map<String, Value>, field: &str) -> &'a str {
    spec.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// True when the service has ports on nodes.
fn is_outside(spec: &Map<String, Value>) -> bool {
    ["NodePort", "LoadBalancer"].contains(&text(spec, "type"))
}

/// Gives a new service its address and node ports; `others` are the specs of those that are there.
fn allocate<'a, I: Iterator<Item = &'a Value>>(
    spec: &mut Map<String, Value>,
    others: impl Fn() -> I,
    number_below: impl Fn(u32) -> u32,
) {
    if text(spec, "type") == "ExternalName" {
        return;
    }
    if text(spec, "clusterIP").is_empty() {
        let free = |address: &String| others().all(|other| other["clusterIP"] != **address);
        let start = number_below(ADDRESSES);
        let address = (0..ADDRESSES)
            .map(|step| {
                let [_, _, high, low] = (1 + (start + step) % ADDRESSES).to_be_bytes();
                format!("10.96.{high}.{low}")
            })
            .find(free);
        if let Some(address) = address {
            spec.insert("clusterIP".to_owned(), address.into());
        }
    }
    let address = spec.get("clusterIP").cloned().unwrap_or_default();
    default_field(spec, "clusterIPs", json!([address]));
    default_field(spec, "ipFamilies", json!(["IPv4"]));
    default_field(spec, "ipFamilyPolicy", "SingleStack");
    let wants_ports = is_outside(spec)
        && spec
            .get("allocateLoadBalancerNodePorts")
            .and_then(Value::as_bool)
            != Some(false);
    if !wants_ports {
        return;
    }
    let used = |ports: Option<&Value>| -> Vec<u64> {
        let list = ports.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|port| port.get("nodePort")?.as_u64())
            .collect()
    };
    let mut taken: Vec<u64> = used(spec.get("ports"));
    taken.extend(others().flat_map(|other| used(other.get("ports"))));
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let width = NODE_PORTS.end - NODE_PORTS.start;
        let start = number_below(width);
        let free = (0..width)
            .map(|step| u64::from(NODE_PORTS.start + (start + step) % width))
            .find(|port| !taken.contains(port));
        let Some(free) = free else { return };
        let fields = object::fields(port);
        if fields.get("nodePort").is_none_or(|port| *port == 0) {
            fields.insert("nodePort".to_owned(), free.into());
            taken.push(free);
        }
    }
}

/// Upstream: `patchAllocatedValues`: an update that leaves out what was allocated means to keep it.
fn keep_allocated(object: &mut Value, old: &Value) {
    let Some(old) = old.get("spec").and_then(Value::as_object) else {
        return;
    };
    let spec = object::child(object, "spec");
    if text(spec, "type") == "ExternalName" || text(old, "type") == "ExternalName" {
        return;
    }
    for field in ALLOCATED {
        if let Some(value) = old.get(field) {
            default_field(spec, field, value.clone());
        }
    }
    if !is_outside(spec) {
        return;
    }
    let before = old
        .get("ports")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let same = before
            .iter()
            .find(|one| one["port"] == port["port"] && one["protocol"] == port["protocol"]);
        if let Some(number) = same.and_then(|same| same.get("nodePort")) {
            default_field(object::fields(port), "nodePort", number.clone());
        }
    }
}
