use crate::{Client, Error, ErrorKind, Request, request};
use sandwire_json::{Raw, Read, Write};
use sandwire_types::{
    Method,
    model::{
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
        PaginatedRequestParams, Prompt, Resource, ResourceTemplate, Skill, Tool,
    },
};

/// A page of a list: a result of one of the list methods.
pub trait Page: Read + sealed::Sealed {
    /// What the list holds.
    type Item;
    /// The method that gives such pages.
    const METHOD: Method;

    /// Where the next page begins; absent on the last one. An empty text is a cursor too.
    fn next_cursor(&self) -> Option<&str>;
    /// What is on this page.
    fn into_items(self) -> Vec<Self::Item>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! pages {
    ($($page:ident: $field:ident of $item:ident by $method:ident;)*) => { $(
        impl sealed::Sealed for $page {}
        impl Page for $page {
            type Item = $item;
            const METHOD: Method = Method::$method;

            fn next_cursor(&self) -> Option<&str> {
                self.next_cursor.as_deref()
            }
            fn into_items(self) -> Vec<$item> {
                self.$field
            }
        }
    )* };
}

pages! {
    ListToolsResult: tools of Tool by ToolsList;
    ListPromptsResult: prompts of Prompt by PromptsList;
    ListResourcesResult: resources of Resource by ResourcesList;
    ListResourceTemplatesResult: resource_templates of ResourceTemplate by ResourcesTemplatesList;
    ListSkillsResult: skills of Skill by SkillsList;
}

impl<P: Page> Request<P> {
    /// The page that begins at a cursor, which came as the `next_cursor` of another page.
    pub fn after(self, cursor: &str) -> Self {
        self.with_params(params(cursor))
    }
}

fn params(cursor: &str) -> Raw {
    let mut params = PaginatedRequestParams::new();
    params.cursor = Some(cursor.into());
    let mut written = sandwire_json::Writer::new();
    params.write(&mut written);
    written.into_raw()
}

/// How many pages a walk reads before it takes the list for endless.
const MAX_PAGES: usize = 1000;

/// Everything on all pages of a list.
pub(crate) async fn walk<P: Page>(client: &Client) -> Result<Vec<P::Item>, Error> {
    let mut items = Vec::new();
    let mut cursors: Vec<String> = Vec::new();
    for _ in 0..MAX_PAGES {
        let request = Request::new(client, Ok(request::call(P::METHOD, None)), request::decode::<P>);
        let page = match cursors.last() {
            Some(cursor) => request.after(cursor).await?,
            None => request.await?,
        };
        let next = page.next_cursor().map(String::from);
        items.extend(page.into_items());
        match next {
            None => return Ok(items),
            Some(cursor) if cursors.contains(&cursor) => {
                return Err(Error::new(
                    ErrorKind::Protocol,
                    "the server's pages go in a circle; read them one by one and stop where they repeat",
                ));
            }
            Some(cursor) => cursors.push(cursor),
        }
    }
    Err(Error::new(ErrorKind::Protocol, "the list does not end; read its pages one by one and stop where it is enough"))
}
