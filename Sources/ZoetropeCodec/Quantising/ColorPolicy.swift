/// How to reduce the colours of frames that have more colours than their format supports, or more than a given number.
///
/// A GIF frame has at most 256 colours, one of which is usually transparent. APNG keeps every colour, except with
/// ``limited(to:)``.
public struct ColorPolicy: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case automatic
    case exact
    case limited(Int)
  }

  package let kind: Kind
  /// The maximum number of colours in a palette, or nil if it is not limited.
  package var limit: Int? { if case .limited(let count) = kind { count } else { nil } }

  /// A policy that reduces colours only in frames whose changed pixels have more colours than the format supports.
  public static let automatic = Self(kind: .automatic)

  /// A policy that never reduces colours. Frames with more colours than the format supports are rejected with
  /// ``AnimatedImageError/Code/unwritable``, and so are partly transparent pixels if the format does not support them.
  public static let exact = Self(kind: .exact)

  /// Returns a policy that uses palettes of at most `count` entries, clamped to 2...256. The policy has no effect if
  /// all frames together have fewer than `count` colours. With a `count` of 256, it has no effect on opaque frames that
  /// together have 256 colours either.
  ///
  /// Several frames share a palette as long as it suits them, so that it is not stored again for each frame. One entry
  /// of each palette is used for transparent and unchanged pixels.
  ///
  /// An APNG has one palette for all frames. The palette's entries may be partly transparent, so that soft edges and
  /// shadows stay soft. The palette is computed from the surveyed frames, or without a survey from the first frame.
  public static func limited(to count: Int) -> Self {
    Self(kind: .limited(min(max(count, 2), 256)))
  }
}

/// The way to draw pixels whose colour is not in the palette.
///
/// The pattern is fixed to the canvas, and a pixel that does not change keeps its colour, so that nothing flickers.
public struct Dithering: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable {
    case automatic = "auto", none, ordered, diffusion
  }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// A light ordered pattern where the palette has gaps, and no pattern where the palette has close colours.
  public static let automatic = Dithering(.automatic)
  /// No dithering: each pixel gets the nearest colour. Files are the smallest, but smooth gradients show steps.
  public static let none = Dithering(.none)
  /// An 8x8 pattern of the two closest colours.
  public static let ordered = Dithering(.ordered)
  /// Floyd-Steinberg error diffusion. Still pictures look smooth, but files are larger.
  public static let diffusion = Dithering(.diffusion)

  /// All ways of dithering in this release.
  public static var all: [Dithering] { allCases }
  /// The name, such as "ordered".
  public var description: String { rawValue }
}

/// How to store partly transparent pixels in a format whose pixels are either opaque or fully transparent.
public struct Transparency: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case threshold(UInt8)
    case matte(RGBA)
    case kept
  }

  package let kind: Kind

  /// Whether partly transparent pixels are blended with a colour.
  package var isMatte: Bool { if case .matte = kind { true } else { false } }

  /// The choice that keeps partly transparent pixels, for a format that supports them.
  package static let kept = Self(kind: .kept)

  /// Returns a policy that makes pixels opaque if their alpha is at least `alpha`, and fully transparent otherwise.
  /// `alpha` is clamped to 1...255. Default: 128.
  public static func threshold(_ alpha: UInt8 = 128) -> Self {
    Self(kind: .threshold(max(alpha, 1)))
  }

  /// Returns a policy that blends partly transparent pixels over `color`, whose alpha is ignored, so that they become
  /// opaque. Fully transparent pixels stay transparent.
  public static func matte(_ color: RGBA) -> Self { Self(kind: .matte(color)) }

  /// Returns the opaque or fully transparent pixel that replaces the pixel `word`, or `word` itself if partly
  /// transparent pixels are kept. Both are words of ``RGBA``, with straight alpha.
  package func flattened(_ word: UInt32) -> UInt32 {
    let alpha = word >> 24
    if alpha == 0 { return 0 }
    if alpha == 255 { return word }
    switch kind {
    case .kept: return word
    case .threshold(let least): return alpha >= UInt32(least) ? word | 0xff00_0000 : 0
    case .matte(let color):
      let (top, below) = (RGBA(word: word), color)
      func blend(_ top: UInt8, _ below: UInt8) -> UInt8 {
        UInt8((UInt32(top) * alpha + UInt32(below) * (255 - alpha) + 127) / 255)
      }
      return RGBA(
        red: blend(top.red, below.red), green: blend(top.green, below.green),
        blue: blend(top.blue, below.blue)
      ).word
    }
  }
}

/// The settings for adapting the pictures of an animation to a format with few colours.
package struct ColorReduction: Sendable, Hashable {
  package var colors: ColorPolicy
  package var dithering: Dithering
  package var transparency: Transparency

  package init(
    colors: ColorPolicy = .automatic, dithering: Dithering = .automatic,
    transparency: Transparency = .threshold()
  ) {
    (self.colors, self.dithering, self.transparency) = (colors, dithering, transparency)
  }

  /// The maximum number of palette entries, including the one for transparent pixels.
  package var limit: Int {
    if case .limited(let count) = colors.kind { count } else { 256 }
  }

  /// Whether pixels may stay partly transparent. This is the case in an APNG, which has one palette for all frames.
  package var keepsAlpha: Bool { transparency == .kept }
}
