//! Comparing JSON numbers as text: no float parsing, which would cost a page more than this whole module.
