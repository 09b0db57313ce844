//! Strings, templates and regular expressions, as far as nesting goes.

use super::frame::{Bracket, Frame};
use super::{Last, MAX_UNCLEAR, MAX_UNCLEAR_LENGTH, Reason, Scan, TooDeep};

impl Scan<'_> {
    /// A string ends at its quote; a broken one at the end of its line.
    pub(super) fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' if self.starts_with(b"\r\n") => self.at += 2,
                b'\\' => self.at += 1,
                b'\n' | b'\r' => break,
                _ if byte == quote => break,
                _ => {}
            }
        }
        self.last = Last::OPERAND;
    }

    /// The text of a template, up to its end or the next `${`.
    pub(super) fn template(&mut self) {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.last = Last::OPERAND;
                    return;
                }
                b'$' if self.peek(0) == Some(b'{') => {
                    self.at += 1;
                    self.push(Frame::new(Bracket::Template, self.at - 1));
                    self.last = Last::OPERATOR;
                    return;
                }
                _ => {}
            }
        }
    }

    pub(super) fn slash(&mut self) -> Result<(), TooDeep> {
        let start = self.at;
        if self.last.unclear {
            self.unclear += 1;
            if self.unclear > MAX_UNCLEAR {
                return Err(TooDeep { at: start, reason: Reason::Unclear });
            }
        }
        if !self.last.operand
            && let Some(end) = self.regular_expression_end()
        {
            if self.last.unclear && end - start > MAX_UNCLEAR_LENGTH {
                return Err(TooDeep { at: start, reason: Reason::Unclear });
            }
            self.at = end;
            self.last = Last::OPERAND;
            return Ok(());
        }
        self.at += 1;
        if self.peek(0) == Some(b'=') {
            self.at += 1;
            self.deeper_expression();
        } else {
            self.binary_operator();
        }
        self.last = Last::OPERATOR;
        Ok(())
    }

    /// The offset behind the `/` that ends a regular expression beginning here, if there is one on the line.
    ///
    /// From the first bracket on, any search on a line goes as one from further left did. So where one has failed, the
    /// others end there.
    fn regular_expression_end(&mut self) -> Option<usize> {
        let mut in_class = false;
        let failed = self.at < self.no_expression_until;
        let mut at = self.at + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'[' | b']' if failed => return None,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => return Some(at + 1),
                b'\n' | b'\r' => break,
                _ => {}
            }
            at += 1;
        }
        self.no_expression_until = at;
        None
    }
}
