//! core/v1 Service, as a stored object: no cluster IP is allocated and nothing is balanced.
//! Source: registry/core/service/strategy.go, core/v1 defaults.go `SetDefaults_Service`.

use flyball_api::name;
use serde_json::{Value, json};

use crate::field::{self, FieldError};
use crate::kind::{DeleteAnswer, Kind, PutRule, Strategy};
use crate::object::{self, default_field};

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
            let number = port.get("port").cloned().unwrap_or_default();
            let port = object::fields(port);
            default_field(port, "protocol", "TCP");
            default_field(port, "targetPort", number);
        }
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
            let number = port.get("port").and_then(Value::as_i64).unwrap_or(0);
            if !(1..=65535).contains(&number) {
                let path = format!("spec.ports[{index}].port");
                errors.push(field::invalid(
                    path,
                    number,
                    "must be between 1 and 65535, inclusive",
                ));
            }
            if ports.len() > 1 && port.get("name").is_none() {
                errors.push(field::required(format!("spec.ports[{index}].name"), ""));
            }
        }
        errors
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::dns_1035_label
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["spec.clusterIP", "spec.type"]
    }
}
