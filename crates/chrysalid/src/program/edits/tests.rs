use super::*;

fn place(line: u32, column: u32) -> Place {
    Place { line, column }
}

fn positions(anchors: Vec<Anchor>) -> Positions {
    let mut positions = Positions::default();
    positions.push_earlier(anchors);
    positions
}

#[test]
fn blanks_keep_lines_and_code_points() {
    let mut edits = Edits::default();
    edits.blank(1, 9);
    edits.blank_from(10, 13, ';');
    edits.blank_to(13, 15, ')');
    let (code, anchors) = edits.apply("aé𝒳\nb:cdefghijk");
    assert_eq!(code, "a  \n :;   )hijk");
    assert!(anchors.is_empty());
}

#[test]
fn what_lies_in_a_blank_is_dropped() {
    let mut edits = Edits::default();
    edits.replace(Span::new(2, 3), "inner");
    edits.blank(1, 4);
    edits.insert(2, "inner");
    assert_eq!(edits.apply("abcdef").0, "a   ef");
}

#[test]
fn a_replacement_has_no_fewer_lines() {
    let mut edits = Edits::default();
    edits.replace(Span::new(0, 5), "x;");
    let (code, anchors) = edits.apply("a\nb\nc d\ne");
    assert_eq!(code, "x;\n\n d\ne");
    let positions = positions(anchors);
    assert_eq!(positions.original(place(1, 2)), place(1, 1));
    assert_eq!(positions.original(place(3, 2)), place(3, 3));
    assert_eq!(positions.original(place(4, 1)), place(4, 1));
}

#[test]
fn places_lead_back_over_insertions() {
    let mut edits = Edits::default();
    edits.insert(4, "XX");
    edits.insert(6, ")");
    let (code, anchors) = edits.apply("a b c d\ne");
    assert_eq!(code, "a b XXc )d\ne");
    let positions = positions(anchors);
    for (column, original) in [(1, 1), (4, 4), (5, 5), (6, 5), (7, 5), (8, 6), (9, 7), (10, 7)] {
        assert_eq!(positions.original(place(1, column)), place(1, original), "{column}");
    }
    assert_eq!(positions.original(place(2, 1)), place(2, 1));
}
