//! Skills, from the server that has them to the client that reads them, in both eras.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, MODERN};
use futures_executor::block_on;
use futures_util::future::join;
use sandwire_client::{Client, ErrorKind, Mode, Options, skills::VerifyError};
use sandwire_io::testing::SimEnv;
use sandwire_server::types::ProtocolVersion;
use sandwire_server::types::model::{
    ReadResourceDirectoryRequestParams, ResourceContents, Skill, SkillResource, SkillResources,
};
use sandwire_server::{Problem, Server, SkillHandler};
use std::error::Error as _;
use std::sync::Arc;

const MAIN: &str = "---\nname: refunds\ndescription: How to refund\nlicense: MIT\n---\nSee references/Größe 1.md\n";

fn refunds() -> SkillHandler {
    SkillHandler::new("billing/refunds", MAIN)
        .text("references/Größe 1.md", "sizes")
        .text("references/deep/more.md", "more")
        .bytes("logo.png", vec![0x89, 0x50])
}

fn server() -> Server {
    let greet = SkillHandler::new("greet", "---\nname: greet\ndescription: Greets\n---\nHello\n");
    Server::builder("shop", "1.0").page_size(1).with(refunds()).with(greet).build().unwrap()
}

fn with_client<F: AsyncFnOnce(Client)>(server: &Server, version: ProtocolVersion, body: F) {
    let options = Options::new("test", "1.0").mode(Mode::Pinned(version));
    let (client, driver) = Client::in_memory_with(server, options, Arc::new(SimEnv::new(1)));
    let body = async {
        body(client.clone()).await;
        client.close();
    };
    block_on(join(body, driver));
}

fn directory(uri: &str) -> ReadResourceDirectoryRequestParams {
    ReadResourceDirectoryRequestParams::new(uri)
}

#[test]
fn a_skill_is_listed_got_and_read() {
    for version in ERAS {
        with_client(&server(), version, async |client| {
            let skills = client.list_all_skills().await.unwrap();
            let uris: Vec<_> = skills.iter().map(|skill| skill.uri.as_str()).collect();
            assert_eq!(uris, ["skill://billing/refunds/SKILL.md", "skill://greet/SKILL.md"]);
            let front = r#"{"name":"refunds","description":"How to refund","license":"MIT"}"#;
            assert_eq!(skills[0].frontmatter.as_str(), front);

            let got = client.get_skill(&skills[0].uri).await.unwrap().skill;
            assert_eq!(got, skills[0]);
            let Some(SkillResources::Listed(files)) = &got.resources else { panic!("its files are listed") };
            assert_eq!(files.len(), 4);

            let skill = client.open_skill(got).unwrap();
            assert_eq!(skill.instructions().await.unwrap(), MAIN);
            for path in ["references/Größe 1.md", "./references/Gr%C3%B6%C3%9Fe%201.md"] {
                let ResourceContents::Text(sizes) = skill.read(path).await.unwrap() else { panic!("a text") };
                assert_eq!(sizes.text, "sizes");
                assert_eq!(sizes.mime_type.as_deref(), Some("text/markdown"));
            }
            assert!(matches!(skill.read("logo.png").await.unwrap(), ResourceContents::Blob(_)));

            let resources = client.list_all_resources().await.unwrap();
            let main = resources.iter().find(|resource| resource.uri == skills[0].uri).unwrap();
            assert_eq!((main.name.as_str(), main.description.as_deref()), ("refunds", Some("How to refund")));
            assert_eq!(main.mime_type.as_deref(), Some("text/markdown"));
        });
    }
}

#[test]
fn directories_list_what_is_right_in_them() {
    with_client(&server(), MODERN, async |client| {
        let names = async |uri: &str| {
            let result = client.read_directory(&directory(uri)).await?;
            Ok::<_, sandwire_client::Error>(
                result.resources.into_iter().map(|entry| (entry.name, entry.mime_type.unwrap())).collect::<Vec<_>>(),
            )
        };
        let own = |name: &str, mime_type: &str| (name.to_owned(), mime_type.to_owned());
        assert_eq!(
            names("skill://billing/refunds").await.unwrap(),
            [own("refunds", "text/markdown"), own("references", "inode/directory"), own("logo.png", "image/png")]
        );
        assert_eq!(
            names("skill://billing/refunds/references").await.unwrap(),
            [own("Gr%C3%B6%C3%9Fe%201.md", "text/markdown"), own("deep", "inode/directory")]
        );
        let others =
            ["skill://billing/refunds/SKILL.md", "skill://billing", "skill://billing/ref", "skill://none", "", "/"];
        for uri in others {
            let error = names(uri).await.unwrap_err();
            assert_eq!(error.code().map(|code| code.0), Some(-32602), "{uri}");
        }
        let missing = client.get_skill("skill://billing/none/SKILL.md").await.unwrap_err();
        assert_eq!(missing.code().map(|code| code.0), Some(-32602));
    });
}

#[test]
fn what_differs_from_the_entry_is_not_used() {
    let cause =
        |error: &sandwire_client::Error| error.source().and_then(|cause| cause.downcast_ref::<VerifyError>().cloned());
    with_client(&server(), MODERN, async |client| {
        let good = client.get_skill("skill://billing/refunds/SKILL.md").await.unwrap().skill;
        let changed = |change: fn(&mut Skill, &mut Vec<SkillResource>)| {
            let mut skill = good.clone();
            let Some(SkillResources::Listed(mut files)) = skill.resources.take() else {
                panic!("its files are listed")
            };
            change(&mut skill, &mut files);
            skill.resources = Some(SkillResources::Listed(files));
            client.open_skill(skill).unwrap()
        };
        for (skill, expected) in [
            (changed(|_, files| files[0].size = 1.into()), VerifyError::Size),
            (changed(|_, files| files[0].digest = files[1].digest.clone()), VerifyError::Digest),
            (
                changed(|skill, _| {
                    let front = skill.frontmatter.as_str().replace("MIT", "Apache-2.0");
                    skill.frontmatter = sandwire_server::types::Raw::parse(&front).unwrap();
                }),
                VerifyError::FrontMatter(None),
            ),
        ] {
            let error = skill.instructions().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unverified);
            assert_eq!(cause(&error), Some(expected));
        }
        let skill = client.open_skill(good.clone()).unwrap();
        for path in ["skill://greet/SKILL.md", "../../greet/SKILL.md", "references/other.md"] {
            assert_eq!(skill.read(path).await.unwrap_err().kind(), ErrorKind::Unverified, "{path}");
        }
    });
}

#[test]
fn a_skill_that_breaks_a_rule_is_not_served() {
    for (skill, said) in [
        (SkillHandler::new("refunds", "no front matter"), "begin the file with a line `---`"),
        (SkillHandler::new("other", MAIN), "does not end in its name"),
        (SkillHandler::new("refunds", "---\nname: refunds\n---\n"), "no description"),
        (refunds().text("../escape.md", ""), "list of files"),
        (refunds().text("SKILL.md", MAIN), "list of files"),
        (refunds().bytes("large", vec![0; 16 * 1024 * 1024]), "16 MiB"),
    ] {
        let error = Server::builder("shop", "1.0").with(skill).build().unwrap_err();
        assert!(matches!(error.problem(), Problem::Skill(_)), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let twice = Server::builder("shop", "1.0").with(refunds()).with(refunds()).build().unwrap_err();
    assert_eq!(twice.problem(), &Problem::Duplicate);
}

#[test]
fn a_server_without_skills_knows_none_of_it() {
    let server = Server::builder("shop", "1.0").resource("a://b", "", || "").build().unwrap();
    for version in ERAS {
        with_client(&server, version, async |client| {
            assert!(client.list_skills().await.is_err());
            assert!(client.read_directory(&directory("a://b")).await.is_err());
        });
    }
}
