//! Media types, field validation, sizes, tables.

use serde_json::json;

use crate::world::{
    CONFIG_MAPS, DEPLOYMENTS, JSON_PATCH, MERGE, STRATEGIC, World, config_map, deployment, request,
};

#[tokio::test(start_paused = true)]
async fn yaml_is_read_and_written() {
    let world = World::new().await;
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  mode: \"0644\"\n";
    let reply = world
        .send(request("POST", CONFIG_MAPS, "application/yaml", text))
        .await;
    assert_eq!(reply.ok()["data"]["mode"], "0644");
    let mut asked = request("GET", &format!("{CONFIG_MAPS}/settings"), "", "");
    asked
        .headers_mut()
        .insert("accept", "application/yaml".parse().unwrap());
    let reply = world.send(asked).await;
    assert_eq!(reply.headers["content-type"], "application/yaml");
    assert!(reply.value.as_str().unwrap().contains("kind: ConfigMap"));
}

#[tokio::test(start_paused = true)]
async fn bodies_that_cannot_be_read_are_refused_by_type_and_size() {
    let world = World::new().await;
    let unknown = world
        .send(request("POST", CONFIG_MAPS, "text/plain", "x"))
        .await;
    assert_eq!(
        (unknown.code, unknown.refusal().1),
        (415, "UnsupportedMediaType")
    );
    let broken = world
        .send(request("POST", CONFIG_MAPS, "application/json", "{"))
        .await;
    assert_eq!((broken.code, broken.refusal().1), (400, "BadRequest"));
    let large = format!("{{\"data\":{{\"a\":\"{}\"}}}}", "x".repeat(3 << 20));
    let reply = world
        .send(request("POST", CONFIG_MAPS, "application/json", &large))
        .await;
    assert_eq!(
        reply.refusal(),
        (
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728"
        )
    );
    let mut asked = request("GET", CONFIG_MAPS, "", "");
    asked
        .headers_mut()
        .insert("accept", "application/cbor".parse().unwrap());
    assert_eq!(world.send(asked).await.code, 406);
}

#[tokio::test(start_paused = true)]
async fn unknown_fields_are_refused_warned_about_or_dropped() {
    let world = World::new().await;
    let mut object = config_map("a");
    object["wrong"] = 1.into();
    let strict = world
        .post(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), &object)
        .await;
    assert_eq!(
        strict.refusal().2,
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"wrong\""
    );
    let warned = world
        .post(&format!("{CONFIG_MAPS}?fieldValidation=Warn"), &object)
        .await;
    assert_eq!(
        warned.headers["warning"],
        "299 - \"unknown field \\\"wrong\\\"\""
    );
    assert!(warned.ok().get("wrong").is_none());
    object["metadata"]["name"] = "b".into();
    let ignored = world
        .post(&format!("{CONFIG_MAPS}?fieldValidation=Ignore"), &object)
        .await;
    assert!(!ignored.headers.contains_key("warning"));
    assert!(ignored.ok().get("wrong").is_none());
}

#[tokio::test(start_paused = true)]
async fn fields_that_come_twice_in_a_patch_are_told() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let twice = r#"{"data": {"k": "1", "k": "2"}}"#;
    let operation = r#"[{"op": "add", "op": "add", "path": "/data", "value": {"k": "2"}}]"#;
    for (media_type, body, problem) in [
        (MERGE, twice, r#"duplicate field "data.k""#),
        (STRATEGIC, twice, r#"duplicate field "data.k""#),
        (
            JSON_PATCH,
            operation,
            r#"json patch duplicate field "[0].op""#,
        ),
    ] {
        let warned = world.send(request("PATCH", &path, media_type, body)).await;
        let header = format!("299 - \"{}\"", problem.replace('"', "\\\""));
        assert_eq!(warned.headers["warning"], header);
        assert_eq!(warned.ok()["data"]["k"], "2", "the last one counts");
        let path = format!("{path}?fieldValidation=Strict");
        let strict = world.send(request("PATCH", &path, media_type, body)).await;
        let (code, reason, message) = strict.refusal();
        assert_eq!((code, reason), (422, "Invalid"));
        let end = format!("strict decoding error: {problem}");
        assert!(message.ends_with(&end), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_is_a_table_for_whoever_accepts_one() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 2)).await.ok();
    world.pass(5).await;
    let mut asked = request("GET", DEPLOYMENTS, "", "");
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    asked
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    let table = world.send(asked).await.ok();
    assert_eq!(table["kind"], "Table");
    assert_eq!(
        table["rows"][0]["cells"].as_array().unwrap()[..5],
        [json!("web"), json!("2/2"), json!(2), json!(2), json!("5s")]
    );
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_asked_for() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let mut asked = request("GET", CONFIG_MAPS, "", "");
    let accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    asked
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    let list = world.send(asked).await.ok();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert!(list["items"][0].get("data").is_none());
}

#[tokio::test(start_paused = true)]
async fn methods_and_paths_that_do_not_exist_are_refused() {
    const NOTHING: &str = "the server could not find the requested resource";
    const NOT_ALLOWED: &str = "the server does not allow this method on the requested resource";
    let world = World::new().await;
    let table = [
        ("GET", "/api/v1/nothings", 404, NOTHING),
        ("GET", "/apis/apps/v2", 404, NOTHING),
        (
            "GET",
            "/api/v1/namespaces/default/configmaps/a/status",
            404,
            NOTHING,
        ),
        ("POST", "/api/v1", 405, NOT_ALLOWED),
        ("POST", "/api/v1/pods", 405, NOT_ALLOWED),
    ];
    for (method, path, code, text) in table {
        let reply = world.send(request(method, path, "", "")).await;
        assert_eq!(
            (reply.refusal().0, reply.refusal().2),
            (code, text),
            "{method} {path}"
        );
    }
    let old = world.get("/openapi/v2").await;
    let told = old.value.as_str().unwrap_or_default();
    assert!(told.contains("Deployment, "), "it lists the kinds: {told}");
    let page = world.get("/apis/nothing/v1").await;
    assert_eq!(page.value, "404 page not found\n");
}

#[tokio::test(start_paused = true)]
async fn requests_at_once_are_bounded_and_a_finished_one_makes_room() {
    use bytes::Bytes;
    use http_body_util::StreamBody;
    type Never =
        futures::stream::Pending<Result<http_body::Frame<Bytes>, std::convert::Infallible>>;
    let world = World::new().await;
    let mut slow = Vec::new();
    for _ in 0..600 {
        let body: StreamBody<Never> = StreamBody::new(futures::stream::pending());
        let request = http::Request::post(CONFIG_MAPS).body(body).unwrap();
        let service = world.plane.service();
        slow.push(tokio::spawn(async move {
            service.answer(request).await.status()
        }));
    }
    world.pass(1).await;
    let reply = world.get(CONFIG_MAPS).await;
    assert_eq!((reply.code, reply.refusal().1), (429, "TooManyRequests"));
    let first = slow.swap_remove(0);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(world.get(CONFIG_MAPS).await.code, 200);
}
