import ZoetropeFrames

/// The way in which a program treats files of one format.
package struct Behaviour: Hashable, Sendable {
  /// What is known about the program's pictures.
  enum Pictures: Hashable, Sendable {
    /// The pictures equal this package's pictures, as compared frame by frame over a corpus.
    case same
    /// Nothing is known about the pictures besides ``Behaviour/rules``.
    case unknown
    case gif(GIFModel)
    case apng(APNGModel)
    /// Only the still picture of a PNG is decoded. By the associated rule, a damaged PNG yields no picture.
    case still(Rule)
  }

  /// Whether the program animates files of the format. If not, it shows only the still picture of an APNG.
  package var animates = true
  var delays: DelayRule?
  var plays: PlayRule?
  var pictures = Pictures.unknown
  /// The rule for files with a colour profile, or with a gamma other than that of sRGB; nil if colours are shown as
  /// stored.
  var profiles: Rule?
  /// The rule that interlaced frames of a single row are not drawn; nil if such frames are drawn.
  var interlacedRow: Rule?
  /// The rule for frames with an index past the palette; nil if the program draws such pixels as this package does.
  var paletteIndex: Rule?
  /// The rules that are not part of the other properties.
  var rules: [Rule] = []
}

/// A program that shows or decodes animations.
package struct Program: Hashable, Sendable {
  /// The program's name on the command line.
  package let id: String
  package let name: String
  let gif: Behaviour
  let apng: Behaviour

  /// Returns how the program treats files of `format`, or nil if that is not known. A still PNG is treated like an APNG.
  func behaviour(for format: AnimationFormat) -> Behaviour? {
    format == .gif ? gif : format == .apng || format == .png ? apng : nil
  }
}
