//! The comparison of two servers can fail: two planes agree, and a difference planted in one of them is told. Not here:
//! the genuine kube-apiserver, which `cargo xtask conform plane` starts.

use anyhow::Result;
use bytes::Bytes;
use flyball_conform::plane::difference::Differences;
use flyball_conform::plane::matrix::Matrix;
use flyball_conform::plane::run::{self, Pair};
use flyball_conform::plane::script::{self, Placed};
use flyball_conform::plane::search;
use flyball_conform::plane::server::{Outgoing, Server};
use flyball_conform::report::{Tally, Verdict};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

/// Two planes, of which the second alone has a namespace `planted`.
async fn pair() -> Result<Pair> {
    let (_, genuine) = Server::plane(1).await?;
    let (_, plane) = Server::plane(2).await?;
    let planted = Outgoing {
        method: Method::POST,
        target: "/api/v1/namespaces".to_owned(),
        headers: HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )]),
        body: Bytes::from_static(
            br#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "planted"}}"#,
        ),
    };
    let answer = plane.connect().await?.ask(&planted).await?;
    assert_eq!(answer.status, StatusCode::CREATED);
    Ok(Pair {
        differences: Differences::default(),
        genuine,
        plane,
        run: "t".to_owned(),
        now_s: flyball_clock::Clock::system().now_ms() / 1000,
    })
}

fn placed(steps: &str) -> Result<Placed> {
    let file = script::parse(&format!(
        "about: a\nscripts:\n- name: planted\n  steps:\n{steps}"
    ))?;
    Ok(Placed {
        file: "f.yaml".into(),
        script: file.scripts[0].clone(),
    })
}

#[tokio::test]
async fn two_planes_give_the_same_answers_whatever_their_seeds() -> Result<()> {
    let steps = "
  - do: POST /api/v1/namespaces/{ns}/configmaps
    body: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: g-}}
    keep: {rv: /metadata/resourceVersion}
    want: 201
  - do: GET /api/v1/namespaces/{ns}/configmaps
  - watch: /api/v1/namespaces/{ns}/configmaps?resourceVersion=0
";
    let asked = run::script(&pair().await?, "n", &placed(steps)?.script).await?;
    assert_eq!(asked.len(), 3);
    for one in asked {
        assert!(matches!(one.verdict, Verdict::Passed), "{one:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_that_differs_is_told_and_so_is_one_nobody_wanted() -> Result<()> {
    let scripts = [placed(
        "
  - do: GET /api/v1/namespaces/default
  - do: GET /api/v1/namespaces/default
    want: 404
  - do: GET /api/v1/namespaces/planted
",
    )?];
    let mut out = Vec::new();
    let matrix = &mut Matrix::default();
    let tally = run::scripts(&pair().await?, &scripts, matrix, &mut out).await?;
    let expected = Tally {
        passed: 1,
        failed: 2,
    };
    assert_eq!(tally, expected);
    let told = String::from_utf8(out)?;
    for text in [
        "FAILED f.yaml: planted",
        "-  \"status\": 404",
        "+  \"status\": 200",
        "does not answer 404",
    ] {
        assert!(told.contains(text), "{text:?} is not in {told}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_difference_does_not_need_is_cut_out_of_the_script() -> Result<()> {
    let scripts = [placed(
        "
  - do: GET /api/v1/namespaces/default
  - do: GET /api/v1/namespaces/planted
  - do: GET /api/v1/namespaces/{ns}
",
    )?];
    let mut out = Vec::new();
    let matrix = &mut Matrix::default();
    search::scripts(&pair().await?, &scripts, matrix, &mut out).await?;
    let told = String::from_utf8(out)?;
    let script = told.split_once("as a script:\n").map(|(_, script)| script);
    assert_eq!(
        script,
        Some("  - {\"do\":\"GET /api/v1/namespaces/planted\"}\n")
    );
    Ok(())
}
