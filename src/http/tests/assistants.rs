//! What an assistant finds at `/mcp`, and what it does not.

use serde_json::{Value, json};

use super::attacks::roles;
use super::support::{Got, House, run};
use crate::config::{Config, McpTools};
use crate::http::accounts::token_line;

const HEAD: [&str; 3] = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2025-06-18",
];

async fn send(house: &House, head: &[&str], method: &str, params: Value) -> Got {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let head: Vec<&str> = HEAD.iter().chain(head).copied().collect();
    house.send("POST /mcp", &head, call.to_string().as_bytes()).await
}

async fn call(house: &House, method: &str, params: Value) -> Value {
    let got = send(house, &[], method, params).await;
    assert_eq!(got.status, 200, "{method}: {}", got.text());
    got.json()
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn with(tools: McpTools) -> impl FnOnce(&mut Config) {
    move |config| config.http.mcp = tools
}

#[test]
fn an_assistant_asks_and_reads() {
    run(async {
        let house = House::open().await;
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let told = call(&house, "initialize", hello).await;
        assert_eq!(told["result"]["serverInfo"]["name"], "engramd");
        assert!(told["result"]["instructions"].as_str().unwrap().contains("memory of a robot"));
        let listed = call(&house, "tools/list", json!({})).await;
        let read =
            ["ask", "search", "person", "people", "timeline", "where_is", "clip", "look", "sql"];
        assert_eq!(names(&listed), read);
        for tool in listed["result"]["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        }
        let ask = json!({ "name": "ask", "arguments": { "question": "Who is here?" } });
        let asked = call(&house, "tools/call", ask).await;
        assert_eq!(asked["result"]["structuredContent"]["question"], "Who is here?", "{asked}");
        let search = json!({ "name": "search", "arguments": { "query": "mug", "limit": 3 } });
        let found = call(&house, "tools/call", search).await;
        let reply = json!({ "search": ["recall", { "query": "mug", "limit": 3 }] });
        assert_eq!(found["result"]["structuredContent"], reply);
        // What is wrong with a call is told to the assistant, not to its program.
        let wrong = json!({ "name": "ask", "arguments": { "text": "Who?" } });
        let told = call(&house, "tools/call", wrong).await;
        assert_eq!(told["result"]["isError"], true, "{told}");
        let unknown =
            call(&house, "tools/call", json!({ "name": "remember", "arguments": { "text": "x" } }))
                .await;
        assert!(
            unknown["error"]["message"].as_str().unwrap().contains("no tool \"remember\""),
            "{unknown}"
        );
        let read =
            call(&house, "resources/read", json!({ "uri": "engram://person/person_4" })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(text, r#"["profile",{"who":"person_4"}]"#);
        house.close().await;
    });
}

#[test]
fn it_changes_only_what_the_configuration_and_its_rights_allow() {
    run(async {
        let house = House::with(with(McpTools::Change)).await;
        let listed = call(&house, "tools/list", json!({})).await;
        assert_eq!(names(&listed)[9..], ["remember", "name", "feedback", "forget"]);
        let told = json!({ "name": "remember", "arguments": { "text": "Ava likes oat milk." } });
        let told = call(&house, "tools/call", told).await;
        assert_eq!(told["result"]["structuredContent"]["ok"], true, "{told}");
        house.close().await;

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        let tokens = ["look", "ask", "look,ask,operate"]
            .map(|words| token_line("home", roles(words)).unwrap());
        for ((token, line), seen) in tokens.into_iter().zip([
            vec!["search", "person", "people", "timeline", "clip", "look", "sql"],
            vec!["ask", "where_is"],
            vec![
                "ask", "search", "person", "people", "timeline", "where_is", "clip", "look", "sql",
                "remember", "name", "feedback",
            ],
        ]) {
            std::fs::write(&file, format!("{line}\n")).unwrap();
            let house = House::with(|config| {
                config.http.mcp = McpTools::Change;
                config.http.tokens_file = Some(file.clone());
            })
            .await;
            let head = format!("Authorization: Bearer {token}");
            let listed = send(&house, &[&head], "tools/list", json!({})).await;
            assert_eq!(names(&listed.json()), seen);
            assert_eq!(send(&house, &[], "tools/list", json!({})).await.status, 401);
            house.close().await;
        }
    });
}

#[test]
fn a_page_of_another_site_and_a_configuration_without_assistants_find_nothing() {
    run(async {
        let house = House::open().await;
        for head in ["Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site"] {
            let got = send(&house, &[head], "tools/list", json!({})).await;
            assert_eq!(got.status, 403, "{head}: {}", got.text());
        }
        let form = ["Content-Type: text/plain", "Accept: application/json, text/event-stream"];
        let got = house
            .send("POST /mcp", &form, br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .await;
        assert!(got.status >= 400, "{}", got.text());
        let long = json!({ "name": "ask", "arguments": { "question": "x".repeat(200_000) } });
        assert_eq!(send(&house, &[], "tools/call", long).await.status, 413);
        house.close().await;
        let house = House::with(with(McpTools::None)).await;
        assert_eq!(send(&house, &[], "tools/list", json!({})).await.status, 404);
        house.close().await;
    });
}
