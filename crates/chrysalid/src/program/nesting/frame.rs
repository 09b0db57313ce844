//! One open bracket and what is open inside of it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Paren,
    Square,
    Brace,
    /// `${` in a template.
    Template,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a bracket")]
pub(super) struct Frame {
    pub(super) bracket: Bracket,
    /// The offset of the bracket.
    pub(super) at: usize,
    /// `(` behind `if` and the like.
    pub(super) head: bool,
    /// `{` where an operand is expected.
    pub(super) value: bool,
    /// The parser tries what is in here as parameters first.
    pub(super) guess: bool,
    /// Open statements: `if`, `for`, labels.
    pub(super) statement: u32,
    /// Open expressions that take all to their right: arrows, assignments, conditionals.
    pub(super) expression: u32,
    /// Prefix operators of the operand at hand.
    pub(super) prefix: u32,
    /// `?` whose `:` has not come.
    questions: u32,
    conditional: bool,
    /// Arrows in a conditional, where a `:` may be that of a return type.
    arrows: u32,
    /// `<` that may open type arguments.
    angles: u32,
    assigned: bool,
}

impl Frame {
    pub(super) fn new(bracket: Bracket, at: usize) -> Self {
        Self {
            bracket,
            at,
            head: false,
            value: false,
            guess: false,
            statement: 0,
            expression: 0,
            prefix: 0,
            questions: 0,
            conditional: false,
            arrows: 0,
            angles: 0,
            assigned: false,
        }
    }

    pub(super) fn levels(&self) -> u32 {
        1 + self.statement + self.expression + self.prefix
    }

    pub(super) fn guesses(&self) -> u32 {
        self.arrows + self.angles + 3 * u32::from(self.assigned)
    }

    pub(super) fn is_block(&self) -> bool {
        self.bracket == Bracket::Brace && !self.value
    }

    pub(super) fn end_statement(&mut self) {
        self.statement = 0;
        self.angles = 0;
        self.arrows = 0;
        self.next_item();
    }

    /// Behind a comma. Type arguments may go on over it.
    pub(super) fn next_item(&mut self) {
        self.expression = 0;
        self.prefix = 0;
        self.questions = 0;
        self.conditional = false;
    }

    /// An operator that groups to the left and does not occur in types.
    pub(super) fn binary_operator(&mut self) {
        self.prefix = 0;
        self.angles = 0;
    }

    pub(super) fn ask(&mut self) {
        self.questions += 1;
        self.conditional = true;
    }

    /// Whether a `:` belongs to a conditional.
    pub(super) fn answer(&mut self) -> bool {
        let asked = self.questions > 0;
        self.questions = self.questions.saturating_sub(1);
        asked
    }

    pub(super) fn arrow(&mut self) {
        self.arrows += u32::from(self.conditional);
    }

    pub(super) fn assign(&mut self) {
        self.assigned |= self.guess;
    }

    pub(super) fn open_angle(&mut self) {
        self.angles += 1;
    }

    pub(super) fn close_angle(&mut self) {
        self.angles = self.angles.saturating_sub(1);
        self.prefix = self.prefix.saturating_sub(1);
    }
}
