//! MCP (Model Context Protocol): the memory as tools and resources for assistants.
//!
//! Every tool ([`tools`]) and resource ([`resources`]) is one request of the contract that MQTT and HTTP have; its reply is what the
//! assistant reads. Where requests go is a [`Reach`]: the dispatcher behind `/mcp` ([`door`]), the daemon or the store
//! behind `engramd mcp`. Nothing is kept between two calls.

pub(super) mod door;
mod resources;
mod tools;

use std::future::Future;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Extensions, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::visitor::{Role, Roles};

/// What an assistant is told first.
const INSTRUCTIONS: &str = "The memory of a robot: who was there, what they did and said, where and when, told by its own \
    cameras and microphones and by people. Answer from it, not from what you suppose: `ask` answers a question with the memories \
    that it rests on, `search` finds memories, `timeline` tells who was there when, `person` what is known of somebody, `where_is` \
    where something was seen last. Times are RFC 3339. Ids such as person_4, or session/number of a clip, can be \
    given to the other tools; `look` shows a face or the picture of a clip.";

/// What a request was answered with.
pub enum Reached {
    /// A JSON document.
    Document(Value),
    /// The bytes of a picture or sound, and their MIME type.
    Bytes(String, Vec<u8>),
}

/// Where requests of an assistant go.
pub trait Reach: Clone + Send + Sync + 'static {
    /// What whoever calls may do; `call`: what came with the call.
    fn rights(&self, call: &Extensions) -> Roles;

    /// Has a request carried out: `below` is its topic below the robot's, as on MQTT. Why not, where it was refused.
    fn request(
        &self,
        below: &'static str,
        payload: Value,
        call: &Extensions,
    ) -> impl Future<Output = Result<Reached, String>> + Send;
}

/// Serves one assistant, or many.
#[derive(Clone, Debug)]
pub struct Assistant<R> {
    reach: R,
    may_change: bool,
}

impl<R: Reach> Assistant<R> {
    /// With tools that change the memory only if `may_change`.
    pub fn new(reach: R, may_change: bool) -> Self {
        Self { reach, may_change }
    }

    /// Whether a tool that needs that right is there for whoever calls.
    fn offers(&self, need: Role, call: &Extensions) -> bool {
        let changes = matches!(need, Role::Operate | Role::Erase);
        (self.may_change || !changes) && self.reach.rights(call).has(need)
    }
}

impl<R: Reach> ServerHandler for Assistant<R> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("engramd", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = tools::TOOLS.iter().filter(|one| self.offers(one.need, &context.extensions));
        Ok(ListToolsResult::with_all_items(offered.map(tools::OneTool::described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = tools::TOOLS.iter().find(|one| one.name == request.name);
        let Some(tool) = known.filter(|one| self.offers(one.need, &context.extensions)) else {
            let message = format!(
                "there is no tool {:?} here; tools/list tells which there are",
                request.name
            );
            return Err(ErrorData::invalid_params(message, None));
        };
        let args = request.arguments.unwrap_or_default();
        let (below, payload) = match tool.request(args) {
            Ok(request) => request,
            Err(message) => return Ok(tools::refused(message).into()),
        };
        let reached = self.reach.request(below, payload, &context.extensions).await;
        Ok(tool.result(reached).into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut all = Vec::new();
        if self.offers(Role::Look, &context.extensions) {
            for listing in resources::LISTINGS {
                let (below, payload) = listing.request();
                let reached = self.reach.request(below, payload, &context.extensions).await;
                all.extend(listing.resources(reached).map_err(internal)?);
            }
        }
        Ok(ListResourcesResult::with_all_items(all))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let unknown = |message: String| ErrorData::resource_not_found(message, None);
        let wanted = resources::request(&request.uri);
        let Some((below, payload)) =
            wanted.filter(|_| self.offers(Role::Look, &context.extensions))
        else {
            return Err(unknown(format!("there is no resource {:?} here", request.uri)));
        };
        let reached = self.reach.request(below, payload, &context.extensions).await;
        Ok(resources::contents(&request.uri, reached.map_err(unknown)?).into())
    }
}

fn internal(message: String) -> ErrorData {
    ErrorData::internal_error(message, None)
}
