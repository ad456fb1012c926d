public import Zoetrope
internal import ZoetropeExplain
package import ZoetropePlayer

// What each value of an option means, which help and manual pages list below the option. The parser
// would otherwise use `defaultValueDescription`, and print it in place of the default's name as well.

extension LimitsProfile {
  static let allValueDescriptions = [
    "default": "for ordinary use",
    "strict": "for untrusted files, as on a server",
    "none": "no limits",
  ]
}

extension DamageChoice {
  static let allValueDescriptions = [
    "salvage": "every frame that is intact",
    "strict": "nothing of a damaged file",
    "partial": "also the decoded rows of a truncated frame",
  ]
}

extension DecoderChoice {
  static let allValueDescriptions = [
    "fast": "this program's own decoders",
    "reference": "giflib and libpng, for debugging",
  ]
}

extension TimingArgument {
  static let allValueStrings = ["browser", "exact", "ffmpeg", "imageio", "gtk", "MIN:REPL"]

  static let allValueDescriptions = [
    "browser": "10 ms or less are shown as 100 ms",
    "exact": "as stored, 0 too",
    "ffmpeg": "less than 20 ms are shown as 100 ms",
    "imageio": "less than 11 ms are shown as 100 ms",
    "gtk": "less than 20 ms are shown as 20 ms",
    "MIN:REPL": "less than MIN are shown as REPL, in ms",
  ]
}

extension InfoTimingArgument {
  static let allValueStrings = TimingArgument.allValueStrings + ["all"]

  static let allValueDescriptions = TimingArgument.allValueDescriptions.merging(
    ["all": "the named ones side by side"], uniquingKeysWith: { $1 })
}

extension CacheArgument {
  static let allValueStrings = ["none", "default", "DIR"]

  static let allValueDescriptions = [
    "none": "nothing is kept",
    "default": "zoetrope/frames in XDG_CACHE_HOME, or in ~/.cache",
    "DIR": "a directory of that name",
  ]
}

extension ScalingFit {
  /// What each value means, for help and manual.
  public static var allValueDescriptions: [String: String] {
    [
      "fit": "as large as fits inside",
      "fill": "covers the size, cropped evenly",
      "stretch": "exactly the size, whatever the proportions",
      "integer": "as fit, by a whole factor, for pixel art",
    ]
  }
}

extension ScalingFilter {
  /// What each value means, for help and manual.
  public static var allValueDescriptions: [String: String] {
    [
      "nearest": "one pixel each, for pixel art; the fastest",
      "box": "the mean of the pixels that are covered",
      "bilinear": "smooth",
      "bicubic": "sharper; overshoots a little at edges",
      "lanczos3": "the sharpest and slowest",
    ]
  }
}

extension OutputFormat {
  static let allValueDescriptions = [
    "png": "PNG files",
    "rgba": "4 bytes a pixel, straight alpha; 8 with --depth 16",
  ]
}

extension ExtractionFormat {
  static let allValueDescriptions = [
    "png": "PNG files",
    "rgba": "4 bytes a pixel, straight alpha; 8 with --depth 16",
    "y4m": "a video with a constant frame rate, without alpha",
    "ffconcat": "PNG files, and a list of them for ffmpeg",
  ]
}

extension AnimationFormatChoice {
  static let allValueDescriptions = [
    "gif": "at most 256 colours a frame, hundredths of a second",
    "apng": "every colour and delay, 16 bits, partial alpha",
  ]
}

extension FrameOrder {
  static let allValueDescriptions = [
    "natural": "f2 before f10, of all files together",
    "given": "as they are named; directories in natural order",
  ]
}

extension PlaysArgument {
  static let allValueStrings = ["forever", "N"]

  static let allValueDescriptions = [
    "forever": "without end",
    "N": "this often in total",
  ]
}

extension CompressionChoice {
  static let allValueDescriptions = [
    "fast": "half the time of the default, files an eighth larger",
    "default": "the smallest form that is cheap to find",
    "small": "files a tenth smaller, in some 30 times the time",
  ]
}

extension StaticImageChoice {
  static let allValueDescriptions = [
    "include": "written beside the frames",
    "only": "written instead of the frames",
    "skip": "not written",
  ]
}

extension ProgressStyle {
  static let allValueDescriptions = [
    "auto": "a bar if standard error is a terminal",
    "bar": "a bar",
    "json": "one object per line",
    "none": "nothing",
  ]
}

extension PosterChoice {
  static let allValueDescriptions = [
    "first": "the first frame",
    "default": "an APNG's static image, else the first frame",
    "nonblank": "the first frame that is not fully transparent",
  ]
}

extension SheetLabel {
  static let allValueDescriptions = [
    "none": "no labels",
    "index": "the frame's number, from 0",
    "time": "when the frame is shown first",
  ]
}

extension BackgroundArgument {
  static let allValueStrings = ["none", "black", "white", "RRGGBB"]

  static let allValueDescriptions = [
    "none": "transparent",
    "black": "black",
    "white": "white",
    "RRGGBB": "a colour in hexadecimal digits",
  ]
}

extension AtlasShape {
  static let allValueDescriptions = [
    "hash": "an object with a key for each frame",
    "array": "an array of objects with a \"filename\"",
  ]
}

extension ProgramsArgument {
  static var allValueStrings: [String] { Programs.all.map(\.id) }

  static var allValueDescriptions: [String: String] {
    Programs.all.reduce(into: [:]) { $0[$1.id] = $1.name }
  }
}

// MARK: - play

extension ProtocolArgument {
  static let allValueDescriptions = [
    "auto": "the first of these that the terminal supports",
    "kitty": "kitty's graphics, changing the image on screen",
    "kitty-images": "kitty's graphics, two images that alternate",
    "iterm2": "iTerm2's inline images",
    "sixel": "sixels",
    "octants": "block characters of 2 x 4, from Unicode 16",
    "sextants": "block characters of 2 x 3, from Unicode 13",
    "fine": "quadrants and eighth blocks, in most fonts",
    "half": "half blocks: two exact colours per character",
    "ascii": "shades of ASCII characters",
    "quadrants": "quadrants, without colours too",
    "braille": "braille dots, 2 x 4 per character",
    "none": "nothing: decodes on schedule, for --trace",
  ]
}

extension ColorsArgument {
  static let allValueDescriptions = [
    "auto": "as many as the terminal has",
    "full": "24 bits",
    "256": "the palette of 256",
    "16": "the 16 named colours",
    "none": "no colours",
  ]
}

extension PassthroughArgument {
  static let allValueDescriptions = [
    "auto": "as the environment says",
    "tmux": "wrapped for tmux, with allow-passthrough on",
    "screen": "wrapped for GNU screen",
    "none": "sent as they are",
  ]
}

extension FitArgument {
  static let allValueDescriptions = [
    "auto": "as contain, and as integer for pixel art",
    "contain": "as large as fits",
    "shrink": "as contain, but never enlarged",
    "cover": "fills the screen, cropped",
    "original": "pixel by pixel",
    "integer": "the largest whole multiple that fits",
    "stretch": "fills the screen, whatever the proportions",
  ]
}

extension FilterArgument {
  static var allValueDescriptions: [String: String] {
    ScalingFilter.allValueDescriptions.merging(["auto": "nearest for pixel art, else a smooth one"])
    {
      $1
    }
  }
}

extension LoopsArgument {
  static let allValueStrings = ["file", "inf", "N"]

  static let allValueDescriptions = [
    "file": "as often as the file says",
    "inf": "until you quit",
    "N": "this often in total",
  ]
}

extension LateArgument {
  static let allValueStrings = ["skip", "stretch", "latest", "catchup", "catchup=RATE"]

  static let allValueDescriptions = [
    "skip": "left out, to keep to the schedule",
    "stretch": "shown, and the rest of the play is delayed",
    "latest": "left out, if a newer one is decoded",
    "catchup": "shown, at most twice as fast until on time",
    "catchup=RATE": "as catchup, at most RATE times as fast",
  ]
}

extension PlayerBackdrop {
  package static var allValueStrings: [String] {
    ["terminal", "checker", "black", "white", "RRGGBB"]
  }

  package static var allValueDescriptions: [String: String] {
    [
      "terminal": "the terminal's background",
      "checker": "a grey checkerboard",
      "black": "black",
      "white": "white",
      "RRGGBB": "a colour in hexadecimal digits",
    ]
  }
}
