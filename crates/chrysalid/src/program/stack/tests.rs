use super::*;

#[test]
fn only_what_can_nest_counts() {
    assert_eq!(need("1+1"), (BASE + UNIT * (6 + 3 + 6), 3));
    assert_eq!(need("foo(bar, 'x');"), (BASE + UNIT * (6 + 16 + 6 + 6), 4));
    assert_eq!(need("\u{a0}"), (BASE + UNIT * 16, 1));
    // White space that is not ASCII parts words.
    assert_eq!(need("new\u{a0}new").1, 3);
}

#[test]
fn a_small_stack_is_enough() {
    let small = std::thread::Builder::new().stack_size(64 * 1024);
    let sum = small.spawn(|| with_room(8 * 1024 * 1024, || deep(1000))).unwrap().join().unwrap();
    assert_eq!(sum, 1000);
}

fn deep(levels: u32) -> u32 {
    let kept = std::hint::black_box([levels; 1024]);
    if levels == 0 { 0 } else { 1 + deep(levels - 1) + (kept[0] - levels) }
}
