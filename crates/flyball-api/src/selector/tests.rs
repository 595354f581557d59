//! Rows of selector text and objects, and what upstream answers.

use serde_json::json;

use super::*;

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn object(json: Value) -> LabelSelector {
    serde_json::from_value(json).expect("the object of a test is a label selector")
}

#[test]
fn text_is_printed_sorted_by_key_with_sorted_values() {
    let rows = [
        ("", ""),
        ("b=c,a=b", "a=b,b=c"),
        ("a==b", "a==b"),
        ("a != b", "a!=b"),
        ("x in (c,a,b)", "x in (a,b,c)"),
        ("x notin (a,a)", "x notin (a)"),
        ("x in ()", "x in ()"),
        ("x in (,a)", "x in (,a)"),
        ("x in (a,,b)", "x in (,a,b)"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("notin=in", "notin=in"),
        ("a", "a"),
        ("!a", "!a"),
        (" ! a , b ", "!a,b"),
        ("a>1,b<2", "a>1,b<2"),
        ("a=", "a="),
        ("a=,b", "a=,b"),
        ("a!=", "a!="),
        ("x/y=z", "x/y=z"),
        ("a=b\0", "a=b"),
    ];
    for (text, printed) in rows {
        let selector = Selector::parse(text).expect(text);
        assert_eq!(selector.to_string(), printed, "{text:?}");
    }
}

#[test]
fn each_malformed_text_has_upstreams_words() {
    let bad_key = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                   alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                   '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let rows = [
        ("=", "found '=', expected: !, identifier, or 'end of string'".to_owned()),
        ("a=b,", "found '', expected: identifier after ','".to_owned()),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt".to_owned()),
        ("a=b c", "found 'c', expected: ',' or 'end of string'".to_owned()),
        ("!", "unable to parse requirement: found '', expected: identifier".to_owned()),
        ("!a=b", "found '=', expected: ',' or 'end of string'".to_owned()),
        ("a=!", "unable to parse requirement: found '!', expected: identifier".to_owned()),
        ("a in b", "unable to parse requirement: found 'b' expected: '('".to_owned()),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
        ("a in (b=", "unable to parse requirement: found '=', expected: ',' or ')'".to_owned()),
        ("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier".to_owned()),
        ("a in (b,=", "unable to parse requirement: found '=', expected: ',', or identifier".to_owned()),
        ("_=b", format!("unable to parse requirement: <nil>: Invalid value: \"_\": {bad_key}")),
        (
            "a>b",
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be \
             an integer"
                .to_owned(),
        ),
    ];
    for (text, error) in rows {
        assert_eq!(
            Selector::parse(text).expect_err(text).to_string(),
            error,
            "{text}"
        );
    }
}

#[test]
fn values_are_checked_like_label_values() {
    let error = Selector::parse("a=b/c").expect_err("a slash is no part of a label value");
    let start = "unable to parse requirement: values[0][a]: Invalid value: \"b/c\": a valid label must be an empty string";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn matching_follows_each_operator() {
    let set = labels(&[("a", "b"), ("n", "5"), ("e", "")]);
    let rows = [
        ("", true),
        ("a=b", true),
        ("a==c", false),
        ("x=b", false),
        ("a!=b", false),
        ("a!=c", true),
        ("x!=b", true),
        ("a in (b,c)", true),
        ("x in (b)", false),
        ("a notin (b,c)", false),
        ("x notin (b)", true),
        ("a", true),
        ("x", false),
        ("!a", false),
        ("!x", true),
        ("n>4", true),
        ("n>5", false),
        ("n<6", true),
        ("a>1", false),
        ("x>1", false),
        ("e=", true),
        ("x=", false),
        ("a=b,n=6", false),
    ];
    for (text, matches) in rows {
        let selector = Selector::parse(text).expect(text);
        assert_eq!(selector.matches(&set), matches, "{text}");
    }
}

#[test]
fn an_absent_object_selects_nothing_and_an_empty_one_everything() {
    let nothing = LabelSelector::compile(None).expect("absence is sound");
    assert!(nothing.is_nothing() && !nothing.matches(&labels(&[])) && !nothing.is_everything());
    let everything =
        LabelSelector::compile(Some(&object(json!({})))).expect("an empty one is sound");
    assert!(everything.is_everything() && everything.matches(&labels(&[])));
    assert_eq!(
        (nothing.to_string(), everything.to_string()),
        (String::new(), String::new())
    );
}

#[test]
fn objects_become_requirements() {
    let object = object(json!({
        "matchLabels": {"tier": "web", "app": "x"},
        "matchExpressions": [
            {"key": "z", "operator": "NotIn", "values": ["b", "a"]},
            {"key": "b", "operator": "Exists"},
            {"key": "c", "operator": "DoesNotExist", "values": []},
            {"key": "a", "operator": "In", "values": ["1"]},
        ],
    }));
    let selector = LabelSelector::compile(Some(&object)).expect("a sound object");
    assert_eq!(
        selector.to_string(),
        "a in (1),app=x,b,!c,tier=web,z notin (a,b)"
    );
}

#[test]
fn the_first_unsound_part_of_an_object_is_named() {
    let no_values =
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty";
    let rows = [
        (
            json!({"matchExpressions": [{"key": "a", "operator": "in"}]}),
            "\"in\" is not a valid label selector operator",
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "In"}, {"key": "b", "operator": "x"}]}),
            no_values,
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}),
            "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist",
        ),
    ];
    for (json, error) in rows {
        let object = object(json);
        assert_eq!(
            LabelSelector::compile(Some(&object))
                .expect_err("unsound")
                .to_string(),
            error
        );
    }
}

#[test]
fn two_problems_of_one_condition_stand_in_brackets() {
    let object = object(json!({"matchLabels": {"_": "/"}}));
    let text = LabelSelector::compile(Some(&object))
        .expect_err("unsound twice")
        .to_string();
    assert!(
        text.starts_with("[key: Invalid value: \"_\": name part"),
        "{text}"
    );
    assert!(
        text.contains(", values[0][_]: Invalid value: \"/\": a valid label"),
        "{text}"
    );
}

#[test]
fn objects_print_as_go_prints_a_pointer() {
    assert_eq!(describe(None), "nil");
    let empty = "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}";
    assert_eq!(describe(Some(&object(json!({})))), empty);
    let full = object(json!({
        "matchLabels": {"b": "2", "a": "1"},
        "matchExpressions": [
            {"key": "k", "operator": "In", "values": ["y", "x"]},
            {"key": "e", "operator": "Exists"},
        ],
    }));
    let printed = "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},\
                   MatchExpressions:[]LabelSelectorRequirement{\
                   LabelSelectorRequirement{Key:k,Operator:In,Values:[y x],},\
                   LabelSelectorRequirement{Key:e,Operator:Exists,Values:[],},},}";
    assert_eq!(describe(Some(&full)), printed);
}

#[test]
fn objects_keep_unknown_fields_and_read_nulls() {
    let json = json!({"matchLabels": {"a": "b"}, "new": 1, "matchExpressions": [{"key": "k", "operator": "Exists", "x": []}]});
    assert_eq!(
        serde_json::to_value(object(json.clone())).expect("serialises"),
        json
    );
    let nulls = object(json!({"matchLabels": null, "matchExpressions": null}));
    assert_eq!(nulls, LabelSelector::default());
}
