public import Zoetrope
internal import ZoetropeExplain
package import ZoetropePlayer

// The meaning of each value of an option, which help and manual pages list below the option. Without these
// descriptions, the parser would use `defaultValueDescription` as the description of each value, and would also print
// it instead of the default's name.

extension LimitsProfile {
  static let allValueDescriptions = [
    "default": "for ordinary use",
    "strict": "for untrusted files, as on a server",
    "none": "no limits",
  ]
}

extension DamageChoice {
  static let allValueDescriptions = [
    "salvage": "keep every intact frame",
    "strict": "reject damaged files",
    "partial": "also keep the decoded rows of a truncated frame",
  ]
}

extension DecoderChoice {
  static let allValueDescriptions = [
    "fast": "the built-in decoders",
    "reference": "giflib and libpng, for debugging",
  ]
}

extension TimingArgument {
  static let allValueStrings = ["browser", "exact", "ffmpeg", "imageio", "gtk", "MIN:REPL"]

  static let allValueDescriptions = [
    "browser": "10 ms or less becomes 100 ms",
    "exact": "as stored, including 0",
    "ffmpeg": "less than 20 ms becomes 100 ms",
    "imageio": "less than 11 ms becomes 100 ms",
    "gtk": "less than 20 ms becomes 20 ms",
    "MIN:REPL": "less than MIN becomes REPL, in ms",
  ]
}

extension InfoTimingArgument {
  static let allValueStrings = TimingArgument.allValueStrings + ["all"]

  static let allValueDescriptions = TimingArgument.allValueDescriptions.merging(
    ["all": "every named policy, side by side"], uniquingKeysWith: { $1 })
}

extension CacheArgument {
  static let allValueStrings = ["none", "default", "DIR"]

  static let allValueDescriptions = [
    "none": "do not use a cache",
    "default": "zoetrope/frames in XDG_CACHE_HOME or ~/.cache",
    "DIR": "the directory with this path",
  ]
}

extension ScalingFit {
  /// The meaning of each value, for help and manual pages.
  public static var allValueDescriptions: [String: String] {
    [
      "fit": "as large as fits inside",
      "fill": "cover the size, cropped evenly",
      "stretch": "exactly the size, ignoring proportions",
      "integer": "fit by a whole factor, for pixel art",
    ]
  }
}

extension ScalingFilter {
  /// The meaning of each value, for help and manual pages.
  public static var allValueDescriptions: [String: String] {
    [
      "nearest": "the nearest pixel, for pixel art; fastest",
      "box": "the mean of the covered pixels",
      "bilinear": "smooth",
      "bicubic": "sharper; overshoots slightly at edges",
      "lanczos3": "sharpest and slowest",
    ]
  }
}

extension OutputFormat {
  static let allValueDescriptions = [
    "png": "PNG",
    "rgba": "raw pixels: RGBA, straight alpha",
  ]
}

extension ExtractionFormat {
  static let allValueDescriptions = [
    "png": "PNG files",
    "rgba": "raw pixels: RGBA, straight alpha",
    "y4m": "video with a constant frame rate, without alpha",
    "ffconcat": "PNG files and a list of them for ffmpeg",
    "tar": "an archive of PNG files, as WebDataset reads it",
  ]
}

extension AnimationFormat {
  /// The meaning of each value, for help and manual pages.
  public static let allValueDescriptions = [
    "gif": "256 colours per frame, delays of whole centiseconds",
    "apng": "all colours and delays, 16 bits, partial opacity",
  ]
}

extension FrameOrder {
  static let allValueDescriptions = [
    "natural": "all files sorted, f2 before f10",
    "given": "as given; files of a directory in natural order",
  ]
}

extension Dithering {
  /// The meaning of each value, for help and manual pages.
  public static let allValueDescriptions = [
    "auto": "a light pattern where the palette has gaps",
    "none": "the nearest colour; the smallest files",
    "ordered": "a pattern of the two closest colours",
    "diffusion": "Floyd-Steinberg; larger files",
  ]
}

extension PlaysArgument {
  static let allValueStrings = ["forever", "N"]

  static let allValueDescriptions = [
    "forever": "without end",
    "N": "N times in total",
  ]
}

extension EffortChoice {
  static let allValueDescriptions = [
    "fast": "PNG: twice as fast as default, an eighth larger",
    "default": "small files at moderate cost",
    "small": "the smallest of many encodings; PNG: 30 times slower",
  ]
}

extension StaticImageChoice {
  static let allValueDescriptions = [
    "include": "write it and the frames",
    "only": "write it instead of the frames",
    "skip": "do not write it",
  ]
}

extension ProgressStyle {
  static let allValueDescriptions = [
    "auto": "a bar if standard error is a terminal",
    "bar": "a bar",
    "json": "a JSON object per line",
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
    "time": "when the frame is first shown",
  ]
}

extension BackgroundArgument {
  static let allValueStrings = ["none", "black", "white", "RRGGBB"]

  static let allValueDescriptions = [
    "none": "transparent",
    "black": "black",
    "white": "white",
    "RRGGBB": "a colour as hexadecimal digits",
  ]
}

extension AtlasShape {
  static let allValueDescriptions = [
    "hash": "an object with one key per frame",
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
    "kitty": "kitty graphics, editing the image on screen",
    "kitty-images": "kitty graphics, alternating two images",
    "iterm2": "iTerm2 inline images",
    "sixel": "sixel graphics",
    "octants": "2 x 4 blocks per character, Unicode 16",
    "sextants": "2 x 3 blocks per character, Unicode 13",
    "fine": "quadrant and eighth blocks, in most fonts",
    "half": "half blocks: two exact colours per character",
    "ascii": "shades of ASCII characters",
    "quadrants": "quadrant blocks, usable without colours",
    "braille": "braille, 2 x 4 dots per character",
    "cells": "the best kind of characters for the terminal",
    "none": "draw nothing; decode on schedule, for --trace",
  ]
}

extension ColorsArgument {
  static let allValueDescriptions = [
    "auto": "as many as the terminal supports",
    "full": "24-bit colour",
    "256": "the 256-colour palette",
    "16": "the 16 named colours",
    "none": "no colours",
  ]
}

extension PassthroughArgument {
  static let allValueDescriptions = [
    "auto": "detect from the environment",
    "tmux": "wrap for tmux, which needs allow-passthrough on",
    "screen": "wrap for GNU screen",
    "none": "do not wrap",
  ]
}

extension FitArgument {
  static let allValueDescriptions = [
    "auto": "integer for pixel art, else fit",
    "fit": "the whole picture, as large as fits",
    "shrink": "like fit, but never enlarge",
    "fill": "cover the screen, cropped",
    "original": "one picture pixel per screen pixel",
    "integer": "the largest whole multiple that fits",
    "stretch": "fill the screen, ignoring proportions",
  ]
}

extension FilterArgument {
  static var allValueDescriptions: [String: String] {
    ScalingFilter.allValueDescriptions.merging(["auto": "nearest for pixel art, else smooth"]) {
      $1
    }
  }
}

extension LoopsArgument {
  static let allValueStrings = ["file", "inf", "N"]

  static let allValueDescriptions = [
    "file": "as often as the file specifies",
    "inf": "until you quit",
    "N": "N times in total, then quit",
  ]
}

extension LateArgument {
  static let allValueStrings = ["skip", "stretch", "latest", "catchup", "catchup=RATE"]

  static let allValueDescriptions = [
    "skip": "skip them to stay on schedule",
    "stretch": "show them and delay the rest of the play",
    "latest": "skip them if a newer frame is ready",
    "catchup": "show them, at up to twice the speed until on time",
    "catchup=RATE": "like catchup, at up to RATE times the speed",
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
      "RRGGBB": "a colour as hexadecimal digits",
    ]
  }
}
