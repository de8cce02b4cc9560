//! What agrees with a skill's entry, and which entries are none.

use sandwire_skills::{Manifest, ManifestError, Skill, SkillResource, SkillResources, VerifyError, digest};
use sandwire_types::Raw;

const MAIN: &str = "skill://acme/refunds/SKILL.md";
const FORMS: &str = "skill://acme/refunds/references/FORMS.md";
const TEXT: &str =
    "---\ndescription: How to refund\nname: refunds\nmetadata:\n  version: 2\n---\nSee references/FORMS.md.\n";

fn file(uri: &str, bytes: &[u8]) -> SkillResource {
    SkillResource::new(uri, digest(bytes), bytes.len() as i64)
}

fn skill() -> Skill {
    let front = r#"{"name":"refunds","description":"How to refund","metadata":{"version":2}}"#;
    let mut skill = Skill::new(MAIN, Raw::from_valid(front));
    skill.resources = Some(SkillResources::Listed(vec![file(MAIN, TEXT.as_bytes()), file(FORMS, b"forms")]));
    skill
}

fn files(change: impl FnOnce(&mut Vec<SkillResource>)) -> Skill {
    let mut skill = skill();
    if let Some(SkillResources::Listed(files)) = &mut skill.resources {
        change(files);
    }
    skill
}

#[test]
fn the_digest_is_sha_256() {
    assert_eq!(digest(b"abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn what_was_listed_passes_and_what_was_changed_does_not() {
    let manifest = Manifest::new(skill()).expect("a good entry");
    assert_eq!(manifest.directory(), "skill://acme/refunds");
    assert_eq!(manifest.verify(MAIN, TEXT.as_bytes()), Ok(()));
    assert_eq!(manifest.verify(FORMS, b"forms"), Ok(()));
    assert_eq!(manifest.verify(FORMS, b"form"), Err(VerifyError::Size));
    assert_eq!(manifest.verify(FORMS, b"farms"), Err(VerifyError::Digest));
    assert_eq!(manifest.verify("skill://acme/refunds/more.md", b""), Err(VerifyError::Unlisted));

    let other = TEXT.replace("version: 2", "version: 3");
    let changed = files(|files| files[0] = file(MAIN, other.as_bytes()));
    let changed = Manifest::new(changed).expect("a good entry");
    assert_eq!(changed.verify(MAIN, other.as_bytes()), Err(VerifyError::FrontMatter(None)));
}

#[test]
fn a_dynamic_skill_is_held_to_its_front_matter_and_its_directory() {
    let mut dynamic = skill();
    dynamic.resources = Some(SkillResources::Dynamic);
    let manifest = Manifest::new(dynamic).expect("a good entry");
    assert_eq!(manifest.verify("skill://acme/refunds/now.md", b"anything"), Ok(()));
    assert_eq!(manifest.verify("skill://acme/other/now.md", b""), Err(VerifyError::Outside));
    assert_eq!(manifest.verify("skill://acme/refunds/../other.md", b""), Err(VerifyError::Outside));
    assert_eq!(manifest.verify(MAIN, TEXT.as_bytes()), Ok(()));
    assert!(matches!(manifest.verify(MAIN, b"no front matter"), Err(VerifyError::FrontMatter(Some(_)))));
    assert!(matches!(manifest.verify(MAIN, b"\xff"), Err(VerifyError::FrontMatter(_))));
}

#[test]
fn paths_stay_inside() {
    let manifest = Manifest::new(skill()).expect("a good entry");
    for path in ["references/FORMS.md", "./references/FORMS.md", "a/../references//FORMS.md", FORMS] {
        assert_eq!(manifest.resolve(path).as_deref(), Ok(FORMS), "{path}");
    }
    for path in [
        "../other/SKILL.md",
        "/etc/passwd",
        "skill://acme/other/SKILL.md",
        "a/../../b",
        "file:///etc/passwd",
        "skill://acme/refunds/../x",
    ] {
        assert_eq!(manifest.resolve(path), Err(VerifyError::Outside), "{path}");
    }
}

#[test]
fn entries_that_break_a_rule_are_refused() {
    let with = |change: fn(&mut Skill)| {
        let mut skill = skill();
        change(&mut skill);
        Manifest::new(skill).map(drop)
    };
    for uri in [
        "skill://acme/other/SKILL.md",
        "skill://acme/refunds/skill.md",
        "refunds/SKILL.md",
        "skill:///refunds/SKILL.md",
        "skill://acme/../refunds/SKILL.md",
    ] {
        let mut skill = skill();
        skill.uri = uri.to_owned();
        assert_eq!(Manifest::new(skill).map(drop), Err(ManifestError::Address), "{uri}");
    }
    assert_eq!(
        with(|skill| skill.frontmatter = Raw::parse(r#"{"description":"d"}"#).expect("JSON")),
        Err(ManifestError::Name)
    );
    assert_eq!(
        with(|skill| skill.frontmatter = Raw::parse(r#"{"name":7,"description":"d"}"#).expect("JSON")),
        Err(ManifestError::Name)
    );
    assert_eq!(
        with(|skill| skill.frontmatter = Raw::parse(r#"{"name":"refunds"}"#).expect("JSON")),
        Err(ManifestError::Description)
    );
    assert_eq!(with(|skill| skill.resources = None), Err(ManifestError::Files));
    for broken in [r#""later""#, "null", "{}", "[null]", r#"[{"uri":"skill://acme/refunds/SKILL.md"}]"#] {
        let text =
            format!(r#"{{"uri":"{MAIN}","frontmatter":{{"name":"refunds","description":"d"}},"resources":{broken}}}"#);
        let skill: Skill = sandwire_types::json::from_str(&text).expect("one unknown member never fails the whole");
        assert_eq!(Manifest::new(skill).map(drop), Err(ManifestError::Files), "{broken}");
    }
}

#[test]
fn lists_of_files_are_complete_and_small_enough() {
    for (change, error) in [
        ((|files| files.remove(0).uri.clear()) as fn(&mut Vec<SkillResource>), ManifestError::Files),
        (|files| files.push(file(FORMS, b"again")), ManifestError::Files),
        (|files| files.push(file("skill://acme/other/x.md", b"")), ManifestError::Files),
        (|files| files.push(file("skill://acme/refunds/../x.md", b"")), ManifestError::Files),
        (|files| files[1].digest = files[1].digest.to_uppercase(), ManifestError::Files),
        (|files| files[1].digest.push('0'), ManifestError::Files),
        (|files| files[1].size = (-1).into(), ManifestError::Files),
        (|files| files[1].size = (16 * 1024 * 1024).into(), ManifestError::TooLarge),
        (
            |files| files.extend((0..511).map(|n| file(&format!("skill://acme/refunds/{n}"), b""))),
            ManifestError::TooLarge,
        ),
    ] {
        assert_eq!(Manifest::new(files(change)).map(drop), Err(error));
    }
    let most = files(|files| files.extend((0..510).map(|n| file(&format!("skill://acme/refunds/{n}"), b""))));
    assert!(Manifest::new(most).is_ok());
}
