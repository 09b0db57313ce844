use super::*;

fn place(line: u32, column: u32) -> Place {
    Place { line, column }
}

#[test]
fn offsets_become_lines_and_code_points() {
    let text = "aé\r\n𝒳b\rc\n";
    let places: Vec<Place> = [0, 1, 3, 5, 9, 11, 12, 13, 99].map(|at| Place::of_offset(text, at)).into();
    let expected = [
        place(1, 1),
        place(1, 2),
        place(1, 3),
        place(2, 1),
        place(2, 2),
        place(3, 1),
        place(3, 2),
        place(4, 1),
        place(4, 1),
    ];
    assert_eq!(places, expected);
    // Inside of a character: its beginning.
    assert_eq!(Place::of_offset(text, 2), place(1, 2));
}

#[test]
fn columns_of_the_guest_are_bytes() {
    let code = "let é = \"日本\"; f()\nx";
    assert_eq!(Place::of_bytes(code, 1, 1), place(1, 1));
    assert_eq!(Place::of_bytes(code, 1, 20), place(1, 15));
    assert_eq!(Place::of_bytes(code, 2, 1), place(2, 1));
    assert_eq!(Place::of_bytes(code, 2, 99), place(2, 2));
    assert_eq!(Place::of_bytes(code, 9, 4), place(9, 4));
}

#[test]
fn an_excerpt_is_the_line_around_the_column() {
    let at = |line, column, width| {
        excerpt("first\nconst q = [1, 2\n\tq\u{1b}[2J\u{202e}", place(line, column), width).map(|e| (e.text, e.caret))
    };
    assert_eq!(at(1, 1, 80), Some(("first".to_owned(), 0)));
    assert_eq!(at(2, 11, 80), Some(("const q = [1, 2".to_owned(), 10)));
    assert_eq!(at(2, 11, 5), Some(("= [1,".to_owned(), 2)));
    assert_eq!(at(3, 2, 80), Some((" q\u{fffd}[2J\u{fffd}".to_owned(), 1)));
    assert_eq!(at(2, 99, 80), Some(("const q = [1, 2".to_owned(), 15)));
    assert_eq!(at(4, 1, 80), None);
    assert_eq!(at(1, 1, 0), Some((String::new(), 0)));
}

#[test]
fn what_hides_in_an_excerpt_is_shown() {
    let shown = excerpt("a\u{200b}\u{ad}\u{2060}\u{e0041}b\u{200d}c", place(1, 1), 80).unwrap().text;
    assert_eq!(shown, "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b\u{200d}c");
}

#[test]
fn places_become_offsets() {
    let text = "\u{feff}aé\r\n𝒳b";
    assert_eq!(place(1, 2).offset_in(text), Some(4));
    assert_eq!(place(2, 2).offset_in(text), Some(12));
    assert_eq!(place(2, 3).offset_in(text), None);
    assert_eq!(place(3, 1).offset_in(text), None);
}

#[test]
fn the_caret_of_a_cut_line_stands_under_its_character() {
    let line: String = ('a'..='z').chain('A'..='Z').collect();
    for width in 1..60 {
        for column in 1..=52 {
            let cut = excerpt(&line, place(1, column), width).unwrap();
            assert!(cut.text.chars().count() <= width);
            let wanted = line.chars().nth(column as usize - 1);
            assert_eq!(cut.text.chars().nth(cut.caret), wanted, "{width} {column}");
        }
    }
}
