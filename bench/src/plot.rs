//! Line charts as SVG: few marks, readable on a light and on a dark page, the same bytes for the same data.

use std::fmt::{self, Write as _};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
/// Of the area with the lines.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 696.0;
const TOP: f64 = 90.0;
const BOTTOM: f64 = 340.0;

/// Colours of lines, for light and for dark pages; more lines than these would be no chart to read.
const COLOURS: &[(&str, &str)] = &[
    ("#0b62c4", "#6cb0ff"),
    ("#c2410c", "#ff9d5c"),
    ("#15803d", "#5fd38d"),
    ("#7e22ce", "#c79bff"),
    ("#a16207", "#e6c229"),
    ("#be185d", "#ff8fbf"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero.
    Linear,
    /// Whole decades.
    Logarithmic,
}

pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
}

pub(crate) struct Line {
    pub(crate) name: String,
    /// By rising first value.
    pub(crate) points: Vec<(f64, f64)>,
}

pub(crate) struct Chart {
    pub(crate) title: &'static str,
    pub(crate) across: Axis,
    pub(crate) up: Axis,
    pub(crate) lines: Vec<Line>,
}

impl Chart {
    pub(crate) fn svg(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, svg: &mut String) -> fmt::Result {
        writeln!(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">")?;
        writeln!(svg, "<title>{}</title>", escaped(self.title))?;
        self.write_style(svg)?;
        writeln!(svg, "<rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>")?;
        writeln!(svg, "<text class=\"title\" x=\"20\" y=\"30\">{}</text>", escaped(self.title))?;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let across = Range::of(self.across.scale, points().map(|point| point.0));
        let up = Range::of(self.up.scale, points().map(|point| point.1));
        self.write_axes(svg, &across, &up)?;
        for (index, line) in self.lines.iter().enumerate() {
            let place = |(x, y): &(f64, f64)| (across.place(*x, LEFT, RIGHT), up.place(*y, BOTTOM, TOP));
            let places: Vec<_> = line.points.iter().map(place).collect();
            let path: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            writeln!(svg, "<polyline class=\"line c{index}\" points=\"{}\"/>", path.join(" "))?;
            for (x, y) in places {
                writeln!(svg, "<circle class=\"dot d{index}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>")?;
            }
        }
        self.write_legend(svg)?;
        writeln!(svg, "</svg>")
    }

    fn write_style(&self, svg: &mut String) -> fmt::Result {
        writeln!(svg, "<style>")?;
        writeln!(svg, "text {{ font: 12px system-ui, sans-serif; fill: #3d444d; }}")?;
        writeln!(svg, ".title {{ font-size: 15px; font-weight: 600; fill: #1f2328; }}")?;
        writeln!(
            svg,
            ".page {{ fill: #ffffff; }} .grid {{ stroke: #d8dee4; }} .line {{ fill: none; stroke-width: 2; }}"
        )?;
        let count = self.lines.len();
        let colours = || COLOURS.iter().take(count).enumerate();
        for (index, (light, _)) in colours() {
            writeln!(svg, ".c{index} {{ stroke: {light}; }} .d{index} {{ fill: {light}; }}")?;
        }
        writeln!(svg, "@media (prefers-color-scheme: dark) {{")?;
        writeln!(svg, "text {{ fill: #b1bac4; }} .title {{ fill: #f0f6fc; }}")?;
        writeln!(svg, ".page {{ fill: #0d1117; }} .grid {{ stroke: #30363d; }}")?;
        for (index, (_, dark)) in colours() {
            writeln!(svg, ".c{index} {{ stroke: {dark}; }} .d{index} {{ fill: {dark}; }}")?;
        }
        writeln!(svg, "}}\n</style>")
    }

    fn write_axes(&self, svg: &mut String, across: &Range, up: &Range) -> fmt::Result {
        for tick in up.ticks() {
            let y = up.place(tick, BOTTOM, TOP);
            writeln!(svg, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")?;
            let (x, below) = (LEFT - 8.0, y + 4.0);
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"end\">{}</text>", number(tick))?;
        }
        for tick in across.ticks() {
            let (x, y) = (across.place(tick, LEFT, RIGHT), BOTTOM + 18.0);
            writeln!(svg, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>")?;
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", number(tick))?;
        }
        let (middle, below) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0);
        writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>",
            escaped(self.across.label)
        )?;
        let (x, y) = (20.0, f64::midpoint(TOP, BOTTOM));
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y:.1})\">{}</text>",
            escaped(self.up.label)
        )
    }

    fn write_legend(&self, svg: &mut String) -> fmt::Result {
        let (mut x, mut y) = (LEFT, 52.0);
        for (index, line) in self.lines.iter().enumerate() {
            let length = u32::try_from(line.name.chars().count()).unwrap_or_default();
            // Wide enough for any usual typeface at this size.
            let width = 24.0 + 6.8 * f64::from(length);
            if x > LEFT && x + width > RIGHT {
                (x, y) = (LEFT, y + 18.0);
            }
            let (end, text_x, text_y) = (x + 18.0, x + 24.0, y + 4.0);
            writeln!(svg, "<line class=\"line c{index}\" x1=\"{x:.1}\" x2=\"{end:.1}\" y1=\"{y}\" y2=\"{y}\"/>")?;
            writeln!(svg, "<text x=\"{text_x:.1}\" y=\"{text_y}\">{}</text>", escaped(&line.name))?;
            x += width + 18.0;
        }
        Ok(())
    }
}

/// What an axis spans.
struct Range {
    scale: Scale,
    low: f64,
    high: f64,
    /// Between ticks; a factor where it is logarithmic.
    step: f64,
}

impl Range {
    fn of(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        match scale {
            Scale::Logarithmic => {
                let (low, high) = (least.log10().floor(), most.log10().ceil());
                // A single value still has to have room.
                let high = if high > low { high } else { low + 1.0 };
                Self { scale, low: 10_f64.powf(low), high: 10_f64.powf(high), step: 10.0 }
            }
            Scale::Linear => {
                let rough = most.max(f64::MIN_POSITIVE) / 5.0;
                let decade = 10_f64.powf(rough.log10().floor());
                let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * decade);
                let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(decade);
                Self { scale, low: 0.0, high: (most / step).ceil() * step, step }
            }
        }
    }

    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        from + share * (to - from)
    }

    fn ticks(&self) -> Vec<f64> {
        let next = |tick: &f64| match self.scale {
            Scale::Linear => tick + self.step,
            Scale::Logarithmic => tick * self.step,
        };
        // The last one in spite of rounding.
        let end = self.high * (1.0 + 1e-9);
        std::iter::successors(Some(self.low), |tick| Some(next(tick))).take_while(|tick| *tick <= end).collect()
    }
}

/// As short as it can be said.
fn number(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e4 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let text = format!("{value:.3}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_at_round_values() {
        let range = |scale, values: &[f64]| {
            let range = Range::of(scale, values.iter().copied());
            range.ticks().into_iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(range(Scale::Linear, &[3.0, 47.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(range(Scale::Logarithmic, &[1.0, 10.0, 1000.0]), ["1", "10", "100", "1000"]);
        assert_eq!(range(Scale::Logarithmic, &[1.0]), ["1", "10"]);
        assert_eq!(range(Scale::Linear, &[20_000.0]), ["0", "5000", "10k", "15k", "20k"]);
    }

    #[test]
    fn values_stand_in_proportion() {
        let range = Range::of(Scale::Logarithmic, [1.0, 100.0].into_iter());
        assert!((range.place(10.0, 0.0, 200.0) - 100.0).abs() < 1e-9);
        let range = Range::of(Scale::Linear, [10.0].into_iter());
        assert!((range.place(5.0, 300.0, 100.0) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn a_chart_says_what_it_shows() {
        let axis = |label, scale| Axis { label, scale };
        let chart = Chart {
            title: "save & restore",
            across: axis("heap, MB", Scale::Linear),
            up: axis("ms", Scale::Linear),
            lines: vec![Line { name: "save".to_owned(), points: vec![(1.0, 1.0), (10.0, 5.0)] }],
        };
        let svg = chart.svg();
        assert!(svg.contains("<title>save &amp; restore</title>"));
        assert!(svg.contains("<polyline class=\"line c0\" points=\"138.0,290.0 696.0,90.0\"/>"), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
    }
}
