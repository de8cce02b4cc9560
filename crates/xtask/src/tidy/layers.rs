//! Who may know whom. A new edge is a change of this table.

use super::workspace::Workspace;

/// A crate of the table.
pub struct Crate {
    pub name: &'static str,
    /// 0 pure, 1 runtime-free, 2 features, 3 platforms, 4 artifacts.
    pub layer: u8,
    /// Our crates that it may use.
    pub may_use: &'static [&'static str],
}

/// Every crate that ships.
pub const LAYERS: &[Crate] = &[
    Crate { name: "sandwire-json", layer: 0, may_use: &[] },
    Crate { name: "sandwire-schema", layer: 0, may_use: &["sandwire-json"] },
    Crate { name: "sandwire-types", layer: 0, may_use: &["sandwire-json"] },
    Crate { name: "sandwire-proto", layer: 0, may_use: &["sandwire-json", "sandwire-types"] },
    Crate { name: "sandwire-skills", layer: 0, may_use: &["sandwire-json", "sandwire-types"] },
    Crate { name: "sandwire-io", layer: 1, may_use: PURE },
    Crate { name: "sandwire-client", layer: 2, may_use: CLIENT },
    Crate { name: "sandwire-server", layer: 2, may_use: SERVER },
    Crate { name: "sandwire-macros", layer: 2, may_use: &[] },
    Crate { name: "sandwire-web", layer: 3, may_use: UP_TO_IO },
    Crate { name: "sandwire-native", layer: 3, may_use: UP_TO_IO },
    Crate { name: "sandwire-js", layer: 4, may_use: UP_TO_PLATFORMS },
    Crate { name: "sandwire", layer: 4, may_use: UP_TO_PLATFORMS },
];

const PURE: &[&str] = &["sandwire-json", "sandwire-types", "sandwire-proto"];
const UP_TO_IO: &[&str] = &["sandwire-json", "sandwire-types", "sandwire-proto", "sandwire-io"];
const CLIENT: &[&str] =
    &["sandwire-json", "sandwire-schema", "sandwire-types", "sandwire-proto", "sandwire-skills", "sandwire-io"];
const SERVER: &[&str] = &[
    "sandwire-json",
    "sandwire-schema",
    "sandwire-types",
    "sandwire-proto",
    "sandwire-skills",
    "sandwire-io",
    "sandwire-macros",
];
const UP_TO_PLATFORMS: &[&str] = &[
    "sandwire-json",
    "sandwire-schema",
    "sandwire-types",
    "sandwire-proto",
    "sandwire-skills",
    "sandwire-io",
    "sandwire-client",
    "sandwire-server",
    "sandwire-macros",
    "sandwire-web",
    "sandwire-native",
];

/// The layer of a crate, if it is in the table.
pub fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|known| known.name == name).map(|known| known.layer)
}

/// Edges between our crates that the table does not have, and crates it does not have.
pub fn edges(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    for package in &workspace.packages {
        let known = LAYERS.iter().find(|known| known.name == package.name);
        if known.is_none() && package.ships {
            broken.push(format!("{} is not in the layers table", package.name));
        }
        let is_test = package.dir.starts_with("tests/");
        let may_use = known.map_or(&[][..], |known| known.may_use);
        for used in &package.uses {
            let ours = used == "sandwire" || used.starts_with("sandwire-");
            if ours && !is_test && !may_use.contains(&used.as_str()) {
                broken.push(format!("{} may not use {used}", package.name));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::package;
    use super::*;

    fn edges_of(name: &str, uses: &[&str]) -> Vec<String> {
        edges(&Workspace { packages: vec![package(name, uses)], ..Workspace::default() })
    }

    #[test]
    fn an_edge_outside_the_table_is_found() {
        assert_eq!(edges_of("sandwire-io", &["sandwire-proto", "futures-core"]), [""; 0]);
        assert_eq!(edges_of("sandwire-client", &["sandwire-web"]), ["sandwire-client may not use sandwire-web"]);
        assert_eq!(edges_of("sandwire-more", &[]), ["sandwire-more is not in the layers table"]);
    }

    #[test]
    fn edges_lead_down() {
        for known in LAYERS {
            for used in known.may_use {
                assert!(layer(used).unwrap() <= known.layer, "{} uses {used}", known.name);
            }
            let platforms = |name: &&&str| layer(name) == Some(3);
            assert!(known.layer == 4 || !known.may_use.iter().any(|name| platforms(&name)));
        }
    }
}
