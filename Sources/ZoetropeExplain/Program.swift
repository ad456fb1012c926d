import ZoetropeFrames

/// How a program treats files of one format.
package struct Behaviour: Hashable, Sendable {
  /// What is known about its pictures.
  enum Pictures: Hashable, Sendable {
    /// They equal this package's, as compared frame by frame over a corpus.
    case same
    /// Only what ``Behaviour/rules`` say.
    case unknown
    case gif(GIFModel)
    case apng(APNGModel)
    /// Only the still picture of a PNG is decoded. A damaged PNG yields nothing, by this rule.
    case still(Rule)
  }

  /// False if it shows only one picture: the static image of an APNG.
  package var animates = true
  var delays: DelayRule?
  var plays: PlayRule?
  var pictures = Pictures.unknown
  /// Applies to files with a colour profile, or a gamma other than sRGB's; nil if stored colours are shown.
  var profiles: Rule?
  /// Applies to interlaced frames of a single row, which are not drawn; nil if they are.
  var interlacedRow: Rule?
  /// Applies to frames with an index past the palette; nil if such pixels look as in this package.
  var paletteIndex: Rule?
  /// Further rules without parameters.
  var rules: [Rule] = []
}

/// A program that shows or decodes animations.
package struct Program: Hashable, Sendable {
  /// Its name on the command line.
  package let id: String
  package let name: String
  let gif: Behaviour
  let apng: Behaviour

  /// How it treats files of `format`. A still PNG is treated like an APNG.
  func behaviour(for format: AnimationFormat) -> Behaviour { format == .gif ? gif : apng }
}
